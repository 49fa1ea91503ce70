-- The cookie that a sign-in replaced. If the answer to a sign-in is lost, or its form is sent twice, the browser presents
-- that one again, and the sign-in that took its place must end with it.
ALTER TABLE boxgate.sign_in ADD COLUMN replaces bytea;
-- The cookie of a sign-in that ended like that: of two answers the browser may have kept the earlier one.
ALTER TABLE boxgate.sign_in ADD COLUMN replaces_unseen bytea;
CREATE INDEX sign_in_replaces ON boxgate.sign_in (box, replaces) WHERE replaces IS NOT NULL;
CREATE INDEX sign_in_replaces_unseen ON boxgate.sign_in (box, replaces_unseen) WHERE replaces_unseen IS NOT NULL;
