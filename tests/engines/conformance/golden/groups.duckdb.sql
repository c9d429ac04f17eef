SELECT
  "keys"."number",
  "totals"."#sum0",
  "totals"."#sum1",
  "totals"."#sum2"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    "#key1",
    SUM("#pair weight") AS "#sum0",
    SUM(
      (
        CAST("#sum1" AS INT128) * (
          (
            "#row weight" * "#pair weight"
          ) // 1048576
        )
      )
    ) AS "#sum1",
    SUM(
      (
        "#sum2" * (
          (
            "#row weight" * "#pair weight"
          ) // 1048576
        )
      )
    ) AS "#sum2"
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY "#unit") <= 2
        )
        THEN 1048576
        ELSE (
          2097152 // COUNT(*) OVER (PARTITION BY "#unit")
        )
      END AS "#pair weight",
      CASE WHEN (
        "#rows" <= 2
      ) THEN 1048576 ELSE (
        2097152 // "#rows"
      ) END AS "#row weight"
    FROM (
      SELECT
        "pairs".*
      FROM (
        SELECT
          "#unit",
          "#key0",
          "#key1",
          COUNT(*) AS "#sum0",
          SUM(CAST("#7" AS BIGINT)) AS "#sum1",
          COUNT("#7") AS "#sum2",
          COUNT(*) AS "#rows"
        FROM (
          SELECT
            "#key0",
            "#key1",
            "#7",
            "#unit"
          FROM (
            SELECT
              *,
              (
                "#1" + CAST(1 AS DOUBLE)
              ) AS "#2",
              CASE
                WHEN (
                  ABS("#6") < 9007199253716992.0e0
                )
                THEN (
                  (
                    ABS("#6") - ABS((
                      "#6" - 1024000.0e0
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
                  "#6" < 0.0e0
                ) THEN (
                  -512000.0e0
                ) ELSE 512000.0e0 END
              END AS "#7"
            FROM (
              SELECT
                *,
                (
                  "cost" * CAST(2 AS DOUBLE)
                ) AS "#1",
                "day" AS "#key0",
                "urgent" AS "#key1",
                FLOOR((
                  "cost" * 1024.0e0
                )) AS "#6"
              FROM (
                SELECT
                  CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
                  CASE
                    WHEN (
                      ISFINITE("#source"."day")
                      AND (
                        "#source"."day" >= CAST('0001-01-01' AS DATE)
                      )
                      AND (
                        "#source"."day" <= CAST('9999-12-31' AS DATE)
                      )
                    )
                    THEN "#source"."day"
                  END AS "day",
                  "#source"."urgent" AS "urgent",
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
          "#key0",
          "#key1"
      ) AS "pairs"
      INNER JOIN "letalone_keys" AS "listed"
        ON (
          (
            "listed"."#key0" = "pairs"."#key0"
          )
          AND (
            "listed"."#key1" IS NOT DISTINCT FROM "pairs"."#key1"
          )
        )
    ) AS "#pairs"
  ) AS "#pairs kept"
  GROUP BY
    "#key0",
    "#key1"
) AS "totals"
  ON (
    (
      "keys"."#key0" = "totals"."#key0"
    )
    AND (
      "keys"."#key1" IS NOT DISTINCT FROM "totals"."#key1"
    )
  )
