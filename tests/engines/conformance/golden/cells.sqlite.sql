WITH `letalone_query_0` AS (
  SELECT
    CASE
      WHEN (
        TYPEOF(`#source`.`cost`) = 'integer'
      )
      THEN CAST(`#source`.`cost` AS REAL)
      WHEN (
        (
          TYPEOF(`#source`.`cost`) = 'real'
        )
        AND (
          ABS(`#source`.`cost`) < LETALONE_DOUBLE('Infinity')
        )
      )
      THEN `#source`.`cost`
      WHEN (
        TYPEOF(`#source`.`cost`) = 'text'
      )
      THEN LETALONE_NUMBER(CAST(`#source`.`cost` AS BLOB))
    END AS `cost`,
    CASE
      WHEN (
        TYPEOF(`#source`.`patient`) = 'integer'
      )
      THEN `#source`.`patient`
      WHEN (
        (
          TYPEOF(`#source`.`patient`) = 'real'
        )
        AND (
          CAST(`#source`.`patient` AS INTEGER) = `#source`.`patient`
        )
      )
      THEN CAST(`#source`.`patient` AS INTEGER)
      WHEN (
        (
          TYPEOF(`#source`.`patient`) = 'real'
        )
        AND (
          ABS(`#source`.`patient`) < LETALONE_DOUBLE('Infinity')
        )
      )
      THEN `#source`.`patient`
      WHEN (
        (
          TYPEOF(`#source`.`patient`) = 'text'
        )
        AND (
          NOT (
            `#source`.`patient` GLOB '*[^ -~]*'
          )
        )
        AND (
          LENGTH(`#source`.`patient`) = LENGTH(CAST(`#source`.`patient` AS BLOB))
        )
      )
      THEN `#source`.`patient`
      WHEN (
        TYPEOF(`#source`.`patient`) = 'text'
      )
      THEN LETALONE_TEXT(CAST(`#source`.`patient` AS BLOB))
    END AS `#unit`
  FROM `visits` AS `#source`
  LIMIT -1
), `letalone_query_1` AS (
  SELECT
    *,
    (
      `cost` * CAST(2 AS REAL)
    ) AS `#1`,
    CAST((
      CAST(MIN(MAX((
        (
          (
            `cost` * 100.0
          ) - 0.0
        ) / 1.0
      ), 0.0), 59.0) AS INTEGER) - (
        CAST(MIN(MAX((
          (
            (
              `cost` * 100.0
            ) - 0.0
          ) / 1.0
        ), 0.0), 59.0) AS INTEGER) > MIN(MAX((
          (
            (
              `cost` * 100.0
            ) - 0.0
          ) / 1.0
        ), 0.0), 59.0)
      )
    ) AS INTEGER) AS `#4`
  FROM `letalone_query_0` AS `#level0`
  WHERE
    (
      NOT (
        (
          `#unit` IS NULL
        )
      )
    )
  LIMIT -1
), `letalone_query_2` AS (
  SELECT
    *,
    (
      `#1` + CAST(1 AS REAL)
    ) AS `#2`,
    CASE
      WHEN (
        NOT (
          (
            `cost` IS NULL
          )
        )
      )
      THEN MAX(
        CAST(0 AS INTEGER),
        MIN(
          CASE
            WHEN (
              `cost` < (
                (
                  0.0 + (
                    CAST(`#4` AS REAL) * 1.0
                  )
                ) / 100.0
              )
            )
            THEN (
              `#4` - 1
            )
            WHEN (
              `cost` >= (
                (
                  0.0 + (
                    CAST((
                      `#4` + 1
                    ) AS REAL) * 1.0
                  )
                ) / 100.0
              )
            )
            THEN (
              `#4` + 1
            )
            ELSE `#4`
          END,
          CAST(59 AS INTEGER)
        )
      )
    END AS `#cell`
  FROM `letalone_query_1` AS `#level1`
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    *,
    (
      CAST(1 AS REAL) / CASE WHEN (
        ABS(`#2`) < LETALONE_DOUBLE('Infinity')
      ) THEN `#2` END
    ) AS `#3`
  FROM `letalone_query_2` AS `#level2`
)
SELECT
  `#cell`,
  COUNT(*) AS `#sum0`
FROM `letalone_query_3` AS `#rows`
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
