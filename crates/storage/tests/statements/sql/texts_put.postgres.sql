INSERT INTO core_vector (ws, id, seq, kind, vectors)
VALUES (?1, ?2, ?3, ?4, ?5) , (?6, ?7, ?8, ?9, ?10) , (?11, ?12, ?13, ?14, ?15) , (?16, ?17, ?18,
      ?19, ?20) , (?21, ?22, ?23, ?24, ?25) , (?26, ?27, ?28, ?29, ?30) , (?31, ?32, ?33, ?34, ?35)
    , (?36, ?37, ?38, ?39, ?40) , (?41, ?42, ?43, ?44, ?45) , (?46, ?47, ?48, ?49, ?50) , (?51, ?52,
      ?53, ?54, ?55) , (?56, ?57, ?58, ?59, ?60) , (?61, ?62, ?63, ?64, ?65) , (?66, ?67, ?68, ?69,
      ?70) , (?71, ?72, ?73, ?74, ?75) , (?76, ?77, ?78, ?79, ?80) , (?81, ?82, ?83, ?84, ?85) , (
      ?86, ?87, ?88, ?89, ?90) , (?91, ?92, ?93, ?94, ?95) , (?96, ?97, ?98, ?99, ?100) , (?101,
      ?102, ?103, ?104, ?105) , (?106, ?107, ?108, ?109, ?110) , (?111, ?112, ?113, ?114, ?115) , (
      ?116, ?117, ?118, ?119, ?120) , (?121, ?122, ?123, ?124, ?125) , (?126, ?127, ?128, ?129, ?130)
    , (?131, ?132, ?133, ?134, ?135) , (?136, ?137, ?138, ?139, ?140) , (?141, ?142, ?143, ?144,
      ?145) , (?146, ?147, ?148, ?149, ?150) , (?151, ?152, ?153, ?154, ?155) , (?156, ?157, ?158,
      ?159, ?160) , (?161, ?162, ?163, ?164, ?165) , (?166, ?167, ?168, ?169, ?170) , (?171, ?172,
      ?173, ?174, ?175) , (?176, ?177, ?178, ?179, ?180) , (?181, ?182, ?183, ?184, ?185) , (?186,
      ?187, ?188, ?189, ?190) , (?191, ?192, ?193, ?194, ?195) , (?196, ?197, ?198, ?199, ?200)
ON CONFLICT (ws, id) DO UPDATE SET seq = excluded.seq, kind = excluded.kind, vectors =
    excluded.vectors;

    WITH v (ws, id, title, summary, body, grams) AS (
  VALUES (CAST (?1 AS BIGINT) , CAST (?2 AS BIGINT) , CAST (?3 AS TEXT) , CAST (?4 AS TEXT) , CAST (
          ?5 AS TEXT) , CAST (?6 AS INTEGER[])) , (CAST (?7 AS BIGINT) , CAST (?8 AS BIGINT) , CAST
        (?9 AS TEXT) , CAST (?10 AS TEXT) , CAST (?11 AS TEXT) , CAST (?12 AS INTEGER[])) , (CAST (
          ?13 AS BIGINT) , CAST (?14 AS BIGINT) , CAST (?15 AS TEXT) , CAST (?16 AS TEXT) , CAST (
          ?17 AS TEXT) , CAST (?18 AS INTEGER[])) , (CAST (?19 AS BIGINT) , CAST (?20 AS BIGINT) ,
        CAST (?21 AS TEXT) , CAST (?22 AS TEXT) , CAST (?23 AS TEXT) , CAST (?24 AS INTEGER[])) , (
        CAST (?25 AS BIGINT) , CAST (?26 AS BIGINT) , CAST (?27 AS TEXT) , CAST (?28 AS TEXT) , CAST
        (?29 AS TEXT) , CAST (?30 AS INTEGER[])) , (CAST (?31 AS BIGINT) , CAST (?32 AS BIGINT) ,
        CAST (?33 AS TEXT) , CAST (?34 AS TEXT) , CAST (?35 AS TEXT) , CAST (?36 AS INTEGER[])) , (
        CAST (?37 AS BIGINT) , CAST (?38 AS BIGINT) , CAST (?39 AS TEXT) , CAST (?40 AS TEXT) , CAST
        (?41 AS TEXT) , CAST (?42 AS INTEGER[])) , (CAST (?43 AS BIGINT) , CAST (?44 AS BIGINT) ,
        CAST (?45 AS TEXT) , CAST (?46 AS TEXT) , CAST (?47 AS TEXT) , CAST (?48 AS INTEGER[])) , (
        CAST (?49 AS BIGINT) , CAST (?50 AS BIGINT) , CAST (?51 AS TEXT) , CAST (?52 AS TEXT) , CAST
        (?53 AS TEXT) , CAST (?54 AS INTEGER[])) , (CAST (?55 AS BIGINT) , CAST (?56 AS BIGINT) ,
        CAST (?57 AS TEXT) , CAST (?58 AS TEXT) , CAST (?59 AS TEXT) , CAST (?60 AS INTEGER[])) , (
        CAST (?61 AS BIGINT) , CAST (?62 AS BIGINT) , CAST (?63 AS TEXT) , CAST (?64 AS TEXT) , CAST
        (?65 AS TEXT) , CAST (?66 AS INTEGER[])) , (CAST (?67 AS BIGINT) , CAST (?68 AS BIGINT) ,
        CAST (?69 AS TEXT) , CAST (?70 AS TEXT) , CAST (?71 AS TEXT) , CAST (?72 AS INTEGER[])) , (
        CAST (?73 AS BIGINT) , CAST (?74 AS BIGINT) , CAST (?75 AS TEXT) , CAST (?76 AS TEXT) , CAST
        (?77 AS TEXT) , CAST (?78 AS INTEGER[])) , (CAST (?79 AS BIGINT) , CAST (?80 AS BIGINT) ,
        CAST (?81 AS TEXT) , CAST (?82 AS TEXT) , CAST (?83 AS TEXT) , CAST (?84 AS INTEGER[])) , (
        CAST (?85 AS BIGINT) , CAST (?86 AS BIGINT) , CAST (?87 AS TEXT) , CAST (?88 AS TEXT) , CAST
        (?89 AS TEXT) , CAST (?90 AS INTEGER[])) , (CAST (?91 AS BIGINT) , CAST (?92 AS BIGINT) ,
        CAST (?93 AS TEXT) , CAST (?94 AS TEXT) , CAST (?95 AS TEXT) , CAST (?96 AS INTEGER[])) , (
        CAST (?97 AS BIGINT) , CAST (?98 AS BIGINT) , CAST (?99 AS TEXT) , CAST (?100 AS TEXT) ,
        CAST (?101 AS TEXT) , CAST (?102 AS INTEGER[])) , (CAST (?103 AS BIGINT) , CAST (?104 AS
          BIGINT) , CAST (?105 AS TEXT) , CAST (?106 AS TEXT) , CAST (?107 AS TEXT) , CAST (?108 AS
          INTEGER[])) , (CAST (?109 AS BIGINT) , CAST (?110 AS BIGINT) , CAST (?111 AS TEXT) , CAST
        (?112 AS TEXT) , CAST (?113 AS TEXT) , CAST (?114 AS INTEGER[])) , (CAST (?115 AS BIGINT) ,
        CAST (?116 AS BIGINT) , CAST (?117 AS TEXT) , CAST (?118 AS TEXT) , CAST (?119 AS TEXT) ,
        CAST (?120 AS INTEGER[])) , (CAST (?121 AS BIGINT) , CAST (?122 AS BIGINT) , CAST (?123 AS
          TEXT) , CAST (?124 AS TEXT) , CAST (?125 AS TEXT) , CAST (?126 AS INTEGER[])) , (CAST (
          ?127 AS BIGINT) , CAST (?128 AS BIGINT) , CAST (?129 AS TEXT) , CAST (?130 AS TEXT) , CAST
        (?131 AS TEXT) , CAST (?132 AS INTEGER[])) , (CAST (?133 AS BIGINT) , CAST (?134 AS BIGINT)
        , CAST (?135 AS TEXT) , CAST (?136 AS TEXT) , CAST (?137 AS TEXT) , CAST (?138 AS INTEGER[]))
      , (CAST (?139 AS BIGINT) , CAST (?140 AS BIGINT) , CAST (?141 AS TEXT) , CAST (?142 AS TEXT) ,
        CAST (?143 AS TEXT) , CAST (?144 AS INTEGER[])) , (CAST (?145 AS BIGINT) , CAST (?146 AS
          BIGINT) , CAST (?147 AS TEXT) , CAST (?148 AS TEXT) , CAST (?149 AS TEXT) , CAST (?150 AS
          INTEGER[])) , (CAST (?151 AS BIGINT) , CAST (?152 AS BIGINT) , CAST (?153 AS TEXT) , CAST
        (?154 AS TEXT) , CAST (?155 AS TEXT) , CAST (?156 AS INTEGER[])) , (CAST (?157 AS BIGINT) ,
        CAST (?158 AS BIGINT) , CAST (?159 AS TEXT) , CAST (?160 AS TEXT) , CAST (?161 AS TEXT) ,
        CAST (?162 AS INTEGER[])) , (CAST (?163 AS BIGINT) , CAST (?164 AS BIGINT) , CAST (?165 AS
          TEXT) , CAST (?166 AS TEXT) , CAST (?167 AS TEXT) , CAST (?168 AS INTEGER[])) , (CAST (
          ?169 AS BIGINT) , CAST (?170 AS BIGINT) , CAST (?171 AS TEXT) , CAST (?172 AS TEXT) , CAST
        (?173 AS TEXT) , CAST (?174 AS INTEGER[])) , (CAST (?175 AS BIGINT) , CAST (?176 AS BIGINT)
        , CAST (?177 AS TEXT) , CAST (?178 AS TEXT) , CAST (?179 AS TEXT) , CAST (?180 AS INTEGER[]))
      , (CAST (?181 AS BIGINT) , CAST (?182 AS BIGINT) , CAST (?183 AS TEXT) , CAST (?184 AS TEXT) ,
        CAST (?185 AS TEXT) , CAST (?186 AS INTEGER[])) , (CAST (?187 AS BIGINT) , CAST (?188 AS
          BIGINT) , CAST (?189 AS TEXT) , CAST (?190 AS TEXT) , CAST (?191 AS TEXT) , CAST (?192 AS
          INTEGER[])) , (CAST (?193 AS BIGINT) , CAST (?194 AS BIGINT) , CAST (?195 AS TEXT) , CAST
        (?196 AS TEXT) , CAST (?197 AS TEXT) , CAST (?198 AS INTEGER[])) , (CAST (?199 AS BIGINT) ,
        CAST (?200 AS BIGINT) , CAST (?201 AS TEXT) , CAST (?202 AS TEXT) , CAST (?203 AS TEXT) ,
        CAST (?204 AS INTEGER[])) , (CAST (?205 AS BIGINT) , CAST (?206 AS BIGINT) , CAST (?207 AS
          TEXT) , CAST (?208 AS TEXT) , CAST (?209 AS TEXT) , CAST (?210 AS INTEGER[])) , (CAST (
          ?211 AS BIGINT) , CAST (?212 AS BIGINT) , CAST (?213 AS TEXT) , CAST (?214 AS TEXT) , CAST
        (?215 AS TEXT) , CAST (?216 AS INTEGER[])) , (CAST (?217 AS BIGINT) , CAST (?218 AS BIGINT)
        , CAST (?219 AS TEXT) , CAST (?220 AS TEXT) , CAST (?221 AS TEXT) , CAST (?222 AS INTEGER[]))
      , (CAST (?223 AS BIGINT) , CAST (?224 AS BIGINT) , CAST (?225 AS TEXT) , CAST (?226 AS TEXT) ,
        CAST (?227 AS TEXT) , CAST (?228 AS INTEGER[])) , (CAST (?229 AS BIGINT) , CAST (?230 AS
          BIGINT) , CAST (?231 AS TEXT) , CAST (?232 AS TEXT) , CAST (?233 AS TEXT) , CAST (?234 AS
          INTEGER[])) , (CAST (?235 AS BIGINT) , CAST (?236 AS BIGINT) , CAST (?237 AS TEXT) , CAST
        (?238 AS TEXT) , CAST (?239 AS TEXT) , CAST (?240 AS INTEGER[]))) , words AS (
  INSERT INTO core_words (ws, id, tsv)
  SELECT v.ws, v.id, setweight (to_tsvector ('understory', v.title) , 'A') || setweight (
        to_tsvector ('understory', v.summary) , 'B') || setweight (to_tsvector ('understory', v.body)
        , 'D')
  FROM v)
INSERT INTO core_grams (ws, id, grams)
SELECT v.ws, v.id, v.grams
FROM v
WHERE cardinality (v.grams) > 0;
