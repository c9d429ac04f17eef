SELECT
  `keys`.`number`,
  `totals`.`#sum0`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    SUM(`#weight`) AS `#sum0`
  FROM (
    SELECT
      `#key0`,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY `#unit`) <= 1
        )
        THEN 1048576
        ELSE (
          1048576 DIV COUNT(*) OVER (PARTITION BY `#unit`)
        )
      END AS `#weight`
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
          (
            CASE
              WHEN (
                `#4` = 1
              )
              THEN 'Monday'
              WHEN (
                `#4` = 2
              )
              THEN 'Tuesday'
              WHEN (
                `#4` = 3
              )
              THEN 'Wednesday'
              WHEN (
                `#4` = 4
              )
              THEN 'Thursday'
              WHEN (
                `#4` = 5
              )
              THEN 'Friday'
              WHEN (
                `#4` = 6
              )
              THEN 'Saturday'
              WHEN (
                `#4` = 7
              )
              THEN 'Sunday'
            END || ' ' || SUBSTR(CAST((
              `#5` + 10000
            ) AS STRING), 5)
          ) AS `#key0`
        FROM (
          SELECT
            *,
            (
              `cost` * CAST(2 AS DOUBLE)
            ) AS `#1`,
            CAST(EXTRACT(DAYOFWEEK_ISO FROM `day`) AS BIGINT) AS `#4`,
            CAST(EXTRACT(QUARTER FROM `day`) AS BIGINT) AS `#5`
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
  ) AS `#weighed`
  GROUP BY
    `#key0`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
