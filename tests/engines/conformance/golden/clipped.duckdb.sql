SELECT
  "keys"."number",
  "totals"."#sum0",
  "totals"."#sum1"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    SUM("#pair weight") AS "#sum0",
    SUM(
      (
        CAST((
          CAST(CASE
            WHEN (
              "#sum1" < 0
            )
            THEN 0
            WHEN (
              "#sum1" > 1024000
            )
            THEN 1024000
            ELSE "#sum1"
          END AS BIGINT) - 0
        ) AS INT128) * "#pair weight"
      )
    ) AS "#sum1"
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY "#unit") <= 1
        )
        THEN 1048576
        ELSE (
          1048576 // COUNT(*) OVER (PARTITION BY "#unit")
        )
      END AS "#pair weight"
    FROM (
      SELECT
        "pairs".*
      FROM (
        SELECT
          "#unit",
          "#key0",
          COUNT(*) AS "#sum0",
          SUM("#6") AS "#sum1",
          COUNT(*) AS "#rows"
        FROM (
          SELECT
            "#key0",
            "#6",
            "#unit"
          FROM (
            SELECT
              *,
              (
                "#1" + CAST(1 AS DOUBLE)
              ) AS "#2",
              (
                CAST(CASE
                  WHEN (
                    ABS("#5") < 9007199253716992.0e0
                  )
                  THEN (
                    (
                      ABS("#5") - ABS((
                        "#5" - 1024000.0e0
                      ))
                    ) * 0.5e0
                  )
                  WHEN (
                    NOT (
                      (
                        "cost" IS NULL
                      )
                    )
                  )
                  THEN CASE WHEN (
                    "#5" < 0.0e0
                  ) THEN (
                    -512000.0e0
                  ) ELSE 512000.0e0 END
                END AS BIGINT) + 512000
              ) AS "#6"
            FROM (
              SELECT
                *,
                (
                  "cost" * CAST(2 AS DOUBLE)
                ) AS "#1",
                "ward" AS "#key0",
                FLOOR((
                  "cost" * 1024.0e0
                )) AS "#5"
              FROM (
                SELECT
                  "#source"."ward" AS "ward",
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
          ) AS "#level2"
        ) AS "#rows"
        GROUP BY
          "#unit",
          "#key0"
      ) AS "pairs"
      INNER JOIN "letalone_keys" AS "listed"
        ON (
          "listed"."#key0" IS NOT DISTINCT FROM "pairs"."#key0"
        )
    ) AS "#pairs"
  ) AS "#pairs kept"
  GROUP BY
    "#key0"
) AS "totals"
  ON (
    "keys"."#key0" IS NOT DISTINCT FROM "totals"."#key0"
  )
