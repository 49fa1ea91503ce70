-- A connection keeps the plan that it made for a day while that day was empty. Without statistics Postgres expects a few
-- sessions of each box, to which any index leads equally fast. It took that of the clients, and so read all sessions of a box
-- for each token, until autovacuum looked at the table a minute later (measured with 100,000 sessions: 10 ms for a check
-- instead of 0.2 ms). An index that does not begin with the box cannot stand in for the primary key of a lookup; the functions
-- that check sessions have the other joins and scans switched off.
DROP INDEX boxgate.session_by_client, boxgate.session_by_user, boxgate.session_by_family;
CREATE INDEX session_by_client ON boxgate.session (client, box);
CREATE INDEX session_by_user ON boxgate.session (user_id, box) WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON boxgate.session (family, box) WHERE family IS NOT NULL;
