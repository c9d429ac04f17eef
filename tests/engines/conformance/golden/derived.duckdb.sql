SELECT
  SUM(CAST("#5" AS BIGINT)) AS "#sum0",
  COUNT("#5") AS "#sum1"
FROM (
  SELECT
    *,
    CASE
      WHEN (
        ABS("#4") < 9007199254740922.0e0
      )
      THEN (
        (
          ABS((
            "#4" - (
              -50.0e0
            )
          )) - ABS((
            "#4" - 70.0e0
          ))
        ) * 0.5e0
      )
      WHEN ISFINITE("#3")
      THEN CASE WHEN (
        "#4" < (
          -50.0e0
        )
      ) THEN (
        -60.0e0
      ) ELSE 60.0e0 END
    END AS "#5"
  FROM (
    SELECT
      *,
      FLOOR((
        "#3" * 0.015625e0
      )) AS "#4"
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
            ) AS "#1"
          FROM (
            SELECT
              CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
              "#source"."patient" AS "#unit"
            FROM "visits" AS "#source"
          ) AS "#level0"
          WHERE
            (
              NOT (
                (
                  "#unit" IS NULL
                )
              )
            )
        ) AS "#level1"
        WHERE
          (
            CASE WHEN ISFINITE("#1") THEN "#1" END > 1.5e0
          )
      ) AS "#level2"
    ) AS "#level3"
  ) AS "#level4"
) AS "#rows"
