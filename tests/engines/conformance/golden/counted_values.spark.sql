SELECT
  CASE
    WHEN (
      `totals`.`#cell` IN (7.0e0)
    )
    THEN 0
    WHEN (
      `totals`.`#cell` IN (0.0e0)
    )
    THEN 1
  END,
  `totals`.`#sum0`
FROM (
  SELECT
    `#cell`,
    SUM(`#weight`) AS `#sum0`
  FROM (
    SELECT
      `#cell`,
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
        `#cell`,
        `#unit`
      FROM (
        SELECT
          *,
          (
            `#1` + CAST(1 AS DOUBLE)
          ) AS `#2`,
          CASE WHEN (
            `#4` IN (7.0e0, 0.0e0)
          ) THEN `#4` END AS `#cell`
        FROM (
          SELECT
            *,
            (
              `cost` * CAST(2 AS DOUBLE)
            ) AS `#1`,
            CASE WHEN (
              ABS(`cost`) < CAST('Infinity' AS DOUBLE)
            ) THEN `cost` END AS `#4`
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
  ) AS `#weighed`
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
) AS `totals`
