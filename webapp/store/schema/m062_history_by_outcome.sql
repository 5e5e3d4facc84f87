-- service/domain/projects/activity.py: the outcome leads, so that a user's news are in order by one index only
DROP INDEX account_history_of_user_by_news;
CREATE INDEX account_history_of_user_by_outcome ON account_history (good, external_user_id, at, id);
