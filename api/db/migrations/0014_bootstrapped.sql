-- The normal form of the email of the last bootstrap_admin that was made, or met, in a box: each is made once.
ALTER TABLE boxgate.box ADD COLUMN bootstrapped text;
