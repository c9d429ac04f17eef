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
            `#source`.`letalone_rank` AS `#rank`
          FROM `visits` AS `#source`
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
