SELECT
  SUM(CAST("#6" AS BIGINT)) AS "#sum0",
  COUNT("#6") AS "#sum1"
FROM (
  SELECT
    *,
    (
      CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
    ) AS "#3",
    CASE
      WHEN (
        ABS("#5") < 9007199254740932.0e0
      )
      THEN (
        (
          ABS("#5") - ABS((
            "#5" - 60.0e0
          ))
        ) * 0.5e0
      )
      WHEN (
        NOT (
          (
            "#4" IS NULL
          )
        )
      )
      THEN CASE WHEN (
        "#5" < 0.0e0
      ) THEN (
        -30.0e0
      ) ELSE 30.0e0 END
    END AS "#6"
  FROM (
    SELECT
      *,
      (
        "#1" + CAST(1 AS DOUBLE)
      ) AS "#2",
      FLOOR((
        "#4" * 1.0e0
      )) AS "#5"
    FROM (
      SELECT
        *,
        (
          "cost" * CAST(2 AS DOUBLE)
        ) AS "#1",
        CAST(CAST(EXTRACT(SECOND FROM "at") AS BIGINT) AS DOUBLE) AS "#4"
      FROM (
        SELECT
          CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
          CASE
            WHEN (
              ISFINITE("#source"."at")
              AND (
                "#source"."at" >= CAST('0001-01-01' AS TIMESTAMP)
              )
              AND (
                "#source"."at" <= CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP)
              )
            )
            THEN "#source"."at"
          END AS "at",
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
  ) AS "#level2"
) AS "#rows"
