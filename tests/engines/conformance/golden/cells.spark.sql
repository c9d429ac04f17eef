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
      ) AS `#2`,
      CASE
        WHEN (
          ABS(`cost`) < CAST('Infinity' AS DOUBLE)
        )
        THEN GREATEST(
          CAST(0 AS BIGINT),
          LEAST(
            CASE
              WHEN (
                `cost` < (
                  (
                    0.0e0 + (
                      CAST(`#4` AS DOUBLE) * 1.0e0
                    )
                  ) / 100.0e0
                )
              )
              THEN (
                `#4` - 1
              )
              WHEN (
                `cost` >= (
                  (
                    0.0e0 + (
                      CAST((
                        `#4` + 1
                      ) AS DOUBLE) * 1.0e0
                    )
                  ) / 100.0e0
                )
              )
              THEN (
                `#4` + 1
              )
              ELSE `#4`
            END,
            CAST(59 AS BIGINT)
          )
        )
      END AS `#cell`
    FROM (
      SELECT
        *,
        (
          `cost` * CAST(2 AS DOUBLE)
        ) AS `#1`,
        CAST(FLOOR(
          LEAST(
            GREATEST((
              (
                (
                  `cost` * 100.0e0
                ) - 0.0e0
              ) / 1.0e0
            ), 0.0e0),
            59.0e0
          )
        ) AS BIGINT) AS `#4`
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
