SELECT
  SUM(
    CAST((
      (
        (
          CAST(`#7` AS DECIMAL(38, 0)) * `#7`
        ) * `#8`
      ) * `#8`
    ) AS DECIMAL(38, 0))
  ) AS `#sum0`
FROM (
  SELECT
    *,
    (
      CAST(1 AS DOUBLE) / CASE WHEN (
        ABS(`#2`) < CAST('Infinity' AS DOUBLE)
      ) THEN `#2` END
    ) AS `#3`,
    CASE
      WHEN (
        (
          NOT (
            (
              `#4` IS NULL
            )
          )
        )
        AND (
          NOT (
            (
              `#6` IS NULL
            )
          )
        )
      )
      THEN `#4`
    END AS `#7`,
    CASE
      WHEN (
        (
          NOT (
            (
              `#4` IS NULL
            )
          )
        )
        AND (
          NOT (
            (
              `#6` IS NULL
            )
          )
        )
      )
      THEN `#6`
    END AS `#8`
  FROM (
    SELECT
      *,
      (
        `#1` + CAST(1 AS DOUBLE)
      ) AS `#2`,
      CASE
        WHEN (
          `#5` < 0.0e0
        )
        THEN CAST((
          -524288
        ) AS BIGINT)
        WHEN (
          `#5` < 128.0e0
        )
        THEN (
          CAST(FLOOR((
            `#5` * 8192.0e0
          )) AS BIGINT) - 524288
        )
        WHEN (
          NOT (
            (
              `#5` IS NULL
            )
          )
        )
        THEN CAST(524288 AS BIGINT)
      END AS `#6`
    FROM (
      SELECT
        *,
        (
          `cost` * CAST(2 AS DOUBLE)
        ) AS `#1`,
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
        END AS `#4`,
        CAST(`age` AS DOUBLE) AS `#5`
      FROM (
        SELECT
          `#source`.`cost` AS `cost`,
          CASE
            WHEN (
              `#source`.`age` < 0
            )
            THEN 0
            WHEN (
              `#source`.`age` > 100
            )
            THEN 100
            ELSE `#source`.`age`
          END AS `age`,
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
