-- How many sessions a client may still be issued before they are counted anew; only of clients in boxes that set
-- tokens.max_sessions_per_client. Sessions that end meanwhile make no room until then, so it is never too much.
CREATE TABLE boxgate.session_room (
  box     text NOT NULL REFERENCES boxgate.box,
  client  text NOT NULL,
  -- The limit it was counted for.
  most    integer NOT NULL,
  room    integer NOT NULL,
  -- When the last count found no room.
  full_at timestamptz,
  PRIMARY KEY (box, client)
);
ALTER TABLE boxgate.session_room ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.session_room USING (box = current_setting('boxgate.box', true));
