SELECT
  SUM(`#4`) AS `#sum0`,
  COUNT(`#4`) AS `#sum1`
FROM (
  SELECT
    *,
    CASE
      WHEN (
        MONOTONICALLY_INCREASING_ID() >= 0
      )
      THEN CASE
        WHEN (
          `#3` < (
            -3200.0e0
          )
        )
        THEN CASE
          WHEN (
            `#3` > CAST('-Infinity' AS DOUBLE)
          )
          THEN CAST((
            -60
          ) AS BIGINT)
        END
        WHEN (
          `#3` < 4480.0e0
        )
        THEN (
          CAST(FLOOR((
            `#3` * 0.015625e0
          )) AS BIGINT) - 10
        )
        WHEN (
          ABS(`#3`) < CAST('Infinity' AS DOUBLE)
        )
        THEN CAST(60 AS BIGINT)
      END
    END AS `#4`
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
          ) AS `#1`
        FROM (
          SELECT
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
      WHERE
        (
          CASE WHEN (
            ABS(`#1`) < CAST('Infinity' AS DOUBLE)
          ) THEN `#1` END > 1.5e0
        )
    ) AS `#level2`
  ) AS `#level3`
) AS `#rows`
