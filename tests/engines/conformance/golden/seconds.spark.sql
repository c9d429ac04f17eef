SELECT
  SUM(`#5`) AS `#sum0`,
  COUNT(`#5`) AS `#sum1`
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
      ) AS `#2`,
      CASE
        WHEN (
          `#4` < 0.0e0
        )
        THEN CAST((
          -30
        ) AS BIGINT)
        WHEN (
          `#4` < 60.0e0
        )
        THEN (
          CAST(FLOOR((
            `#4` * 1.0e0
          )) AS BIGINT) - 30
        )
        WHEN (
          NOT (
            (
              `#4` IS NULL
            )
          )
        )
        THEN CAST(30 AS BIGINT)
      END AS `#5`
    FROM (
      SELECT
        *,
        (
          `cost` * CAST(2 AS DOUBLE)
        ) AS `#1`,
        CAST(CAST(EXTRACT(SECOND FROM `at`) AS BIGINT) AS DOUBLE) AS `#4`
      FROM (
        SELECT
          `#source`.`cost` AS `cost`,
          CASE
            WHEN (
              (
                CAST(`#source`.`at` AS TIMESTAMP) >= CAST('0001-01-01' AS TIMESTAMP)
              )
              AND (
                CAST(`#source`.`at` AS TIMESTAMP) <= CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP)
              )
            )
            THEN CAST(`#source`.`at` AS TIMESTAMP)
          END AS `at`,
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
