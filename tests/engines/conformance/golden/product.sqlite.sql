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
        CASE
          WHEN (
            TYPEOF(`#source`.`age`) = 'integer'
          )
          THEN `#source`.`age`
          WHEN (
            TYPEOF(`#source`.`age`) = 'real'
          )
          THEN LETALONE_ROUNDED(`#source`.`age`)
          WHEN (
            TYPEOF(`#source`.`age`) = 'text'
          )
          THEN LETALONE_INTEGER(CAST(`#source`.`age` AS BLOB))
        END < 0
      )
      THEN 0
      WHEN (
        CASE
          WHEN (
            TYPEOF(`#source`.`age`) = 'integer'
          )
          THEN `#source`.`age`
          WHEN (
            TYPEOF(`#source`.`age`) = 'real'
          )
          THEN LETALONE_ROUNDED(`#source`.`age`)
          WHEN (
            TYPEOF(`#source`.`age`) = 'text'
          )
          THEN LETALONE_INTEGER(CAST(`#source`.`age` AS BLOB))
        END > 100
      )
      THEN 100
      ELSE CASE
        WHEN (
          TYPEOF(`#source`.`age`) = 'integer'
        )
        THEN `#source`.`age`
        WHEN (
          TYPEOF(`#source`.`age`) = 'real'
        )
        THEN LETALONE_ROUNDED(`#source`.`age`)
        WHEN (
          TYPEOF(`#source`.`age`) = 'text'
        )
        THEN LETALONE_INTEGER(CAST(`#source`.`age` AS BLOB))
      END
    END AS `age`,
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
        `cost` < 0.0
      )
      THEN CAST((
        -512000
      ) AS INTEGER)
      WHEN (
        `cost` < 1000.0
      )
      THEN (
        CAST((
          CAST((
            `cost` * 1024.0
          ) AS INTEGER) - (
            CAST((
              `cost` * 1024.0
            ) AS INTEGER) > (
              `cost` * 1024.0
            )
          )
        ) AS INTEGER) - 512000
      )
      WHEN (
        NOT (
          (
            `cost` IS NULL
          )
        )
      )
      THEN CAST(512000 AS INTEGER)
    END AS `#4`,
    CAST(`age` AS REAL) AS `#5`
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
        `#5` < 0.0
      )
      THEN CAST((
        -524288
      ) AS INTEGER)
      WHEN (
        `#5` < 128.0
      )
      THEN (
        CAST((
          CAST((
            `#5` * 8192.0
          ) AS INTEGER) - (
            CAST((
              `#5` * 8192.0
            ) AS INTEGER) > (
              `#5` * 8192.0
            )
          )
        ) AS INTEGER) - 524288
      )
      WHEN (
        NOT (
          (
            `#5` IS NULL
          )
        )
      )
      THEN CAST(524288 AS INTEGER)
    END AS `#6`
  FROM `letalone_query_1` AS `#level1`
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    *,
    (
      CAST(1 AS REAL) / CASE WHEN (
        ABS(`#2`) < LETALONE_DOUBLE('Infinity')
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
  FROM `letalone_query_2` AS `#level2`
)
SELECT
  LETALONE_SUM(
    (
      LETALONE_TIMES(
        (
          LETALONE_TIMES((
            LETALONE_TIMES((
              `#7`
            ), `#7`)
          ), `#8`)
        ),
        `#8`
      )
    )
  ) AS `#sum0`
FROM `letalone_query_3` AS `#rows`
