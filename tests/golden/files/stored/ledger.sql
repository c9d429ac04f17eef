PRAGMA application_id = 1818588225;

PRAGMA user_version = 3;

CREATE TABLE entries (
	number INTEGER NOT NULL, 
	name TEXT, 
	kind TEXT NOT NULL, 
	text TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	changed TEXT, 
	digest TEXT, 
	PRIMARY KEY (number)
);

CREATE TABLE head (
	only INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	signed TEXT NOT NULL, 
	PRIMARY KEY (only)
);

CREATE TABLE keys (
	only INTEGER NOT NULL, 
	private BLOB NOT NULL, 
	public TEXT NOT NULL, 
	PRIMARY KEY (only)
);

CREATE TABLE levels (
	name TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	analyst TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (name, purpose, analyst), 
	FOREIGN KEY(entry) REFERENCES entries (number)
);

CREATE TABLE payments (
	reserved INTEGER NOT NULL, 
	purpose TEXT NOT NULL, 
	analyst TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (reserved, purpose, analyst), 
	FOREIGN KEY(reserved) REFERENCES entries (number), 
	FOREIGN KEY(entry) REFERENCES entries (number)
);

CREATE TABLE settlements (
	reserved INTEGER NOT NULL, 
	settled INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	release TEXT, 
	release_digest TEXT, 
	PRIMARY KEY (reserved), 
	FOREIGN KEY(reserved) REFERENCES entries (number), 
	FOREIGN KEY(settled) REFERENCES entries (number)
);

CREATE INDEX entries_by_change ON entries (changed, number) WHERE changed IS NOT NULL;

CREATE INDEX entries_by_digest ON entries (digest, name) WHERE digest IS NOT NULL;

CREATE INDEX entries_by_name ON entries (name, number);

CREATE INDEX settlements_by_digest ON settlements (name, digest, version);

CREATE INDEX settlements_by_release ON settlements (release_digest)
