// The frames of descriptor 3: 4 bytes length of what follows, 1 byte kind, payload. Frames of channels begin their
// payload with the 4-byte number of the channel. All numbers are big-endian.
"use strict";

const MAX = 16 * 1024 * 1024;
const HEAD = 5;

/** One frame of `kind` (a letter) around `payload`, which is a Buffer. */
function frame(kind, payload) {
  const head = Buffer.allocUnsafe(HEAD);
  head.writeUInt32BE(payload.length + 1, 0);
  head[4] = kind.charCodeAt(0);
  return Buffer.concat([head, payload]);
}

/** A frame of `channel`. */
function channelFrame(kind, channel, rest) {
  const head = Buffer.allocUnsafe(HEAD + 4);
  head.writeUInt32BE(rest.length + 5, 0);
  head[4] = kind.charCodeAt(0);
  head.writeUInt32BE(channel, 5);
  return Buffer.concat([head, rest]);
}

/** Calls `take(kind, payload)` for each whole frame of the blocks that it is given. */
class FrameReader {
  constructor(take) {
    this._take = take;
    this._blocks = [];
    this._size = 0;
    this._wanted = 4;
  }

  push(block) {
    this._blocks.push(block);
    this._size += block.length;
    if (this._size < this._wanted) return;
    let rest = this._blocks.length === 1 ? block : Buffer.concat(this._blocks, this._size);
    this._wanted = 4;
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0);
      if (length < 1 || length > MAX) throw new Error(`a frame of ${length} bytes`);
      if (rest.length < 4 + length) {
        this._wanted = 4 + length;
        break;
      }
      this._take(String.fromCharCode(rest[4]), rest.subarray(HEAD, 4 + length));
      rest = rest.subarray(4 + length);
    }
    this._blocks = rest.length ? [rest] : [];
    this._size = rest.length;
  }
}

module.exports = { FrameReader, channelFrame, frame, MAX };
