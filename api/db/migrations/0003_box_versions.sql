-- The versions that a box had lately. A replica that holds one of them loads what moved since; one that holds another is
-- older than the tombstones that are kept, or holds what a restored backup knows nothing of: it loads the whole box.
CREATE TABLE boxgate.box_version (
  box     text NOT NULL REFERENCES boxgate.box,
  version bigint NOT NULL,
  PRIMARY KEY (box, version)
);
ALTER TABLE boxgate.box_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_version USING (box = current_setting('boxgate.box', true));
