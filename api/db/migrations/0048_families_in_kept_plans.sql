-- Tokens with a refresh token, and refreshes, cost Postgres less. Each new family was checked against the table of boxes, which locks
-- and writes the row of its box, although both ways to store one have just read that row, and no row of a box is ever deleted. And
-- both statements were planned again for each batch; they only probe primary keys, so a kept plan is as good.
ALTER TABLE boxgate.refresh_family DROP CONSTRAINT refresh_family_box_fkey;

ALTER FUNCTION boxgate.issue_families(
  text[], bigint[], uuid[], integer[], bigint[], "char"[], text[], bytea[], inet[], bigint[], text[], jsonb[], text[], uuid[],
  bytea[], bytea[], bigint[], bigint[], bigint[]
) SET plan_cache_mode = force_generic_plan;

ALTER FUNCTION boxgate.use_refresh_tokens(
  text[], bigint[], uuid[], integer[], bigint[], "char"[], text[], bytea[], inet[], bigint[], text[], jsonb[], text[], uuid[],
  bytea[], bigint[], bigint[], bytea[], bytea[]
) SET plan_cache_mode = force_generic_plan;
