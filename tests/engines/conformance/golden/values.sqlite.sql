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
    CASE
      WHEN (
        `cost` = 0.0
      )
      THEN 0.0
      WHEN (
        ABS(`cost`) < LETALONE_DOUBLE('Infinity')
      )
      THEN `cost`
    END AS `#cell`
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
    ) AS `#2`
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
), `letalone_query_4` AS (
  SELECT
    `#unit`,
    `#cell`
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
    `#unit`,
    `#cell`
), `letalone_query_5` AS (
  SELECT
    *,
    DENSE_RANK() OVER (
      PARTITION BY `#unit`
      ORDER BY LETALONE_SHA256(
        CAST(LETALONE_SHA256(
          CAST(COALESCE(
            CASE
              WHEN (
                TYPEOF(`#unit`) = 'real'
              )
              THEN LETALONE_SPELLED(`#unit`)
              ELSE CAST(`#unit` AS TEXT)
            END,
            ''
          ) AS BLOB)
        ) || LETALONE_SHA256(
          CAST(COALESCE(
            CASE
              WHEN (
                TYPEOF(`#cell`) = 'real'
              )
              THEN LETALONE_SPELLED(`#cell`)
              ELSE CAST(`#cell` AS TEXT)
            END,
            ''
          ) AS BLOB)
        ) AS BLOB)
      ) NULLS LAST, `#cell` NULLS LAST
    ) AS `#0place`
  FROM `letalone_query_4` AS `#0all`
), `letalone_query_6` AS (
  SELECT
    *
  FROM `letalone_query_5` AS `#0`
  WHERE
    (
      `#0place` <= 1
    )
), `letalone_query_7` AS (
  SELECT
    `#cell`
  FROM `letalone_query_6` AS `#kept`
  GROUP BY
    `#cell`
)
SELECT
  COUNT(*) AS `#sum0`
FROM `letalone_query_7` AS `#values`
