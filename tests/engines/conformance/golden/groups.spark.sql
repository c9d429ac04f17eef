SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`,
  `totals`.`#sum2`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    `#key1`,
    SUM(CAST(`#pair weight` AS DECIMAL(38, 0))) AS `#sum0`,
    SUM(
      CAST((
        CAST(`#sum1` AS DECIMAL(38, 0)) * (
          (
            `#row weight` * `#pair weight`
          ) DIV 1048576
        )
      ) AS DECIMAL(38, 0))
    ) AS `#sum1`,
    SUM(
      CAST((
        `#sum2` * (
          (
            `#row weight` * `#pair weight`
          ) DIV 1048576
        )
      ) AS DECIMAL(38, 0))
    ) AS `#sum2`
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY `#unit`) <= 2
        )
        THEN 1048576
        ELSE (
          2097152 DIV COUNT(*) OVER (PARTITION BY `#unit`)
        )
      END AS `#pair weight`,
      CASE WHEN (
        `#rows` <= 2
      ) THEN 1048576 ELSE (
        2097152 DIV `#rows`
      ) END AS `#row weight`
    FROM (
      SELECT
        `pairs`.*
      FROM (
        SELECT
          `#unit`,
          `#key0`,
          `#key1`,
          COUNT(*) AS `#sum0`,
          SUM(`#6`) AS `#sum1`,
          COUNT(`#6`) AS `#sum2`,
          COUNT(*) AS `#rows`
        FROM (
          SELECT
            `#key0`,
            `#key1`,
            `#6`,
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
                `day` AS `#key0`,
                `urgent` AS `#key1`,
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
                END AS `#6`
              FROM (
                SELECT
                  `#source`.`cost` AS `cost`,
                  CASE
                    WHEN (
                      (
                        `#source`.`day` >= CAST('0001-01-01' AS DATE)
                      )
                      AND (
                        `#source`.`day` <= CAST('9999-12-31' AS DATE)
                      )
                    )
                    THEN `#source`.`day`
                  END AS `day`,
                  `#source`.`urgent` AS `urgent`,
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
          `#key0`,
          `#key1`
      ) AS `pairs`
      INNER JOIN `letalone_keys` AS `listed`
        ON (
          (
            `listed`.`#key0` = `pairs`.`#key0`
          )
          AND (
            `listed`.`#key1` IS NOT DISTINCT FROM `pairs`.`#key1`
          )
        )
    ) AS `#pairs`
  ) AS `#pairs kept`
  GROUP BY
    `#key0`,
    `#key1`
) AS `totals`
  ON (
    (
      `keys`.`#key0` = `totals`.`#key0`
    )
    AND (
      `keys`.`#key1` IS NOT DISTINCT FROM `totals`.`#key1`
    )
  )
