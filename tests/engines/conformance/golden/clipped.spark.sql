SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    SUM(CAST(`#pair weight` AS DECIMAL(38, 0))) AS `#sum0`,
    SUM(
      CAST((
        CAST((
          CAST(CASE
            WHEN (
              `#sum1` < 0
            )
            THEN 0
            WHEN (
              `#sum1` > 1024000
            )
            THEN 1024000
            ELSE `#sum1`
          END AS BIGINT) - 0
        ) AS DECIMAL(38, 0)) * `#pair weight`
      ) AS DECIMAL(38, 0))
    ) AS `#sum1`
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY `#unit`) <= 1
        )
        THEN 1048576
        ELSE (
          1048576 DIV COUNT(*) OVER (PARTITION BY `#unit`)
        )
      END AS `#pair weight`
    FROM (
      SELECT
        `pairs`.*
      FROM (
        SELECT
          `#unit`,
          `#key0`,
          COUNT(*) AS `#sum0`,
          SUM(`#5`) AS `#sum1`,
          COUNT(*) AS `#rows`
        FROM (
          SELECT
            `#key0`,
            `#5`,
            `#unit`
          FROM (
            SELECT
              *,
              (
                `#1` + CAST(1 AS DOUBLE)
              ) AS `#2`
            FROM (
              SELECT
                *,
                (
                  `cost` * CAST(2 AS DOUBLE)
                ) AS `#1`,
                `ward` AS `#key0`,
                (
                  CASE
                    WHEN (
                      `cost` < 0.0e0
                    )
                    THEN CASE
                      WHEN (
                        `cost` > CAST('-Infinity' AS DOUBLE)
                      )
                      THEN CAST((
                        -512000
                      ) AS BIGINT)
                    END
                    WHEN (
                      `cost` < 1000.0e0
                    )
                    THEN (
                      CAST(FLOOR((
                        `cost` * 1024.0e0
                      )) AS BIGINT) - 512000
                    )
                    WHEN (
                      ABS(`cost`) < CAST('Infinity' AS DOUBLE)
                    )
                    THEN CAST(512000 AS BIGINT)
                  END + 512000
                ) AS `#5`
              FROM (
                SELECT
                  TRY_VALIDATE_UTF8(`#source`.`ward`) AS `ward`,
                  `#source`.`cost` AS `cost`,
                  `#source`.`patient` AS `#unit`
                FROM `visits` AS `#source`
              ) AS `#level0`
              WHERE
                (
                  NOT (
                    (
                      `#unit` IS NULL
                    )
                  )
                )
            ) AS `#level1`
          ) AS `#level2`
        ) AS `#rows`
        GROUP BY
          `#unit`,
          `#key0`
      ) AS `pairs`
      INNER JOIN `letalone_keys` AS `listed`
        ON (
          `listed`.`#key0` IS NOT DISTINCT FROM `pairs`.`#key0`
        )
    ) AS `#pairs`
  ) AS `#pairs kept`
  GROUP BY
    `#key0`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
