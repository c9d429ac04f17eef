SELECT
  COUNT(*) AS `#sum0`
FROM (
  SELECT
    `#cell`,
    COUNT(*) AS `#sum0`
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
          CASE WHEN (
            ABS(`cost`) < CAST('Infinity' AS DOUBLE)
          ) THEN `cost` END AS `#cell`
        FROM (
          SELECT
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
            `#rank` <= 1
          )
      ) AS `#level1`
    ) AS `#level2`
  ) AS `#rows`
  WHERE
    (
      NOT (
        (
          `#cell` IS NULL
        )
      )
    )
  GROUP BY
    `#cell`
) AS `#values`
