SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`,
  `totals`.`#sum2`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    COUNT(*) AS `#sum0`,
    SUM(`#5`) AS `#sum1`,
    COUNT(`#5`) AS `#sum2`
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN (
          ABS(`#2`) < CAST('Infinity' AS DOUBLE)
        ) THEN `#2` END
      ) AS `#3`
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
          END AS `#5`
        FROM (
          SELECT
            TRY_VALIDATE_UTF8(`#source`.`ward`) AS `ward`,
            `#source`.`cost` AS `cost`,
            ROW_NUMBER() OVER (
              PARTITION BY `#source`.`patient`
              ORDER BY LEFT(
                SHA2(
                  CONCAT(
                    :ranks,
                    CAST(`#source`.`#number` AS BINARY),
                    CAST(CAST(`#source`.`patient` AS STRING) AS BINARY)
                  ),
                  256
                ),
                32
              ) NULLS LAST, `#source`.`#number` NULLS LAST
            ) AS `#rank`
          FROM (
            SELECT
              *,
              MONOTONICALLY_INCREASING_ID() AS `#number`
            FROM `visits`
          ) AS `#source`
          WHERE
            (
              NOT (
                (
                  `#source`.`patient` IS NULL
                )
              )
            )
        ) AS `#level0`
        WHERE
          (
            `#rank` <= 3
          )
      ) AS `#level1`
    ) AS `#level2`
  ) AS `#rows`
  GROUP BY
    `#key0`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
