-- The tables of the old forms. store.old_texts has rewritten every text in them before this step.
DROP TABLE blobs;
DROP TABLE ahead;
DROP TABLE packs;
DROP TABLE packed;
DROP TABLE thinned;
DROP TABLE patched;
