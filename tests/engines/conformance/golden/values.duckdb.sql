SELECT
  COUNT(*) AS "#sum0"
FROM (
  SELECT
    "#cell",
    COUNT(*) AS "#sum0"
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
      ) AS "#3"
    FROM (
      SELECT
        *,
        (
          "#1" + CAST(1 AS DOUBLE)
        ) AS "#2"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          "cost" AS "#cell"
        FROM (
          SELECT
            CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
            "#ranks"."rank" AS "#rank"
          FROM "visits" AS "#source"
          POSITIONAL JOIN "ranks" AS "#ranks"
        ) AS "#level0"
        WHERE
          (
            "#rank" <= 1
          )
      ) AS "#level1"
    ) AS "#level2"
  ) AS "#rows"
  WHERE
    (
      NOT (
        (
          "#cell" IS NULL
        )
      )
    )
  GROUP BY
    "#cell"
) AS "#values"
