SELECT
  "keys"."number",
  CASE
    WHEN (
      "totals"."#cell" IN ('A')
    )
    THEN 0
    WHEN (
      "totals"."#cell" IN ('x''y')
    )
    THEN 1
  END,
  "totals"."#sum0"
FROM "letalone_keys" AS "keys"
JOIN (
  SELECT
    "#key0",
    "#cell",
    SUM(
      (
        "#sum0" * (
          (
            "#row weight" * "#pair weight"
          ) // 1048576
        )
      )
    ) AS "#sum0"
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(CASE WHEN (
            "#first" = 1
          ) THEN 1 END) OVER (PARTITION BY "#unit") <= 2
        )
        THEN 1048576
        ELSE (
          2097152 // COUNT(CASE WHEN (
            "#first" = 1
          ) THEN 1 END) OVER (PARTITION BY "#unit")
        )
      END AS "#pair weight",
      CASE
        WHEN (
          "#rows in all" <= 2
        )
        THEN 1048576
        ELSE (
          2097152 // "#rows in all"
        )
      END AS "#row weight"
    FROM (
      SELECT
        *,
        ROW_NUMBER() OVER (PARTITION BY "#unit", "#key0" ORDER BY "#cell") AS "#first",
        CAST(SUM("#rows") OVER (PARTITION BY "#unit", "#key0") AS BIGINT) AS "#rows in all"
      FROM (
        SELECT
          "pairs".*
        FROM (
          SELECT
            "#unit",
            "#key0",
            "#cell",
            COUNT(*) AS "#sum0",
            COUNT(*) AS "#rows"
          FROM (
            SELECT
              "#key0",
              "#cell",
              "#unit"
            FROM (
              SELECT
                *,
                (
                  "#1" + CAST(1 AS DOUBLE)
                ) AS "#2",
                CASE WHEN (
                  "#5" IN ('A', 'x''y')
                ) THEN "#5" END AS "#cell"
              FROM (
                SELECT
                  *,
                  (
                    "cost" * CAST(2 AS DOUBLE)
                  ) AS "#1",
                  "ward" AS "#key0",
                  TRANSLATE("ward", 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') AS "#5"
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
            "#key0",
            "#cell"
        ) AS "pairs"
        INNER JOIN "letalone_keys" AS "listed"
          ON (
            "listed"."#key0" IS NOT DISTINCT FROM "pairs"."#key0"
          )
      ) AS "#cells"
    ) AS "#pairs"
  ) AS "#pairs kept"
  WHERE
    (
      NOT (
        (
          "#cell" IS NULL
        )
      )
    )
  GROUP BY
    "#key0",
    "#cell"
) AS "totals"
  ON (
    "keys"."#key0" IS NOT DISTINCT FROM "totals"."#key0"
  )
