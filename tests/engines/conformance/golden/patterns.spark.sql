SELECT
  SUM(`#10`) AS `#sum0`,
  COUNT(`#10`) AS `#sum1`
FROM (
  SELECT
    *
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN (
          ABS(`#2`) < CAST('Infinity' AS DOUBLE)
        ) THEN `#2` END
      ) AS `#3`,
      LOCATE(CAST(X'27' AS STRING), `#7`) AS `#8`
    FROM (
      SELECT
        *,
        (
          `#1` + CAST(1 AS DOUBLE)
        ) AS `#2`,
        LOCATE(CAST(X'275f' AS STRING), `#4`) AS `#5`,
        SUBSTR(`ward`, (
          `#6` + 1
        )) AS `#7`,
        CASE
          WHEN (
            `#9` < (
              -0.78125e0
            )
          )
          THEN CAST((
            -60
          ) AS BIGINT)
          WHEN (
            `#9` < 1.09375e0
          )
          THEN (
            CAST(FLOOR((
              `#9` * 64.0e0
            )) AS BIGINT) - 10
          )
          WHEN (
            NOT (
              (
                `#9` IS NULL
              )
            )
          )
          THEN CAST(60 AS BIGINT)
        END AS `#10`
      FROM (
        SELECT
          *,
          (
            `cost` * CAST(2 AS DOUBLE)
          ) AS `#1`,
          SUBSTR(`ward`, 2, GREATEST((
            LENGTH(`ward`) - 2
          ), 0)) AS `#4`,
          LOCATE('a', `ward`) AS `#6`,
          CAST(DATEDIFF(`day`, CAST(DATE_TRUNC('day', CAST(`at` AS TIMESTAMP)) AS DATE)) AS DOUBLE) AS `#9`
        FROM (
          SELECT
            TRY_VALIDATE_UTF8(`#source`.`ward`) AS `ward`,
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
  ) AS `#levels`
  WHERE
    (
      (
        (
          `ward` LIKE CAST(X'7825' AS STRING)
        )
        AND (
          `ward` LIKE CAST(X'2579' AS STRING)
        )
        AND (
          CAST(LENGTH(`ward`) AS BIGINT) >= CAST(2 AS BIGINT)
        )
        AND (
          `#5` > 0
        )
        AND (
          SUBSTR(`#4`, (
            `#5` + 2
          )) LIKE CAST(X'255f25' AS STRING)
        )
      )
      OR (
        (
          `#6` > 0
        )
        AND (
          `#8` > 0
        )
        AND (
          SUBSTR(`#7`, (
            `#8` + 1
          )) LIKE CAST(X'25625f2b2b25' AS STRING) ESCAPE '+'
        )
      )
    )
) AS `#rows`
