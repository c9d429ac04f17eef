CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE counters (
	survey TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	document TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	told TEXT, 
	PRIMARY KEY (survey, place)
);

CREATE TABLE data_sets (
	name TEXT NOT NULL, 
	description TEXT NOT NULL, 
	schema TEXT NOT NULL, 
	file TEXT, 
	external BOOLEAN NOT NULL, 
	affected TEXT, 
	retention TEXT, 
	registered TEXT NOT NULL, 
	registered_by TEXT NOT NULL, 
	retired TEXT, 
	PRIMARY KEY (name)
);

CREATE TABLE drafts (
	digest TEXT NOT NULL, 
	person TEXT NOT NULL, 
	until TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(person) REFERENCES people (name)
);

CREATE TABLE errands (
	id TEXT NOT NULL, 
	data_set TEXT NOT NULL, 
	what TEXT NOT NULL, 
	finder TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	asked TEXT NOT NULL, 
	done TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name)
);

CREATE TABLE facts (
	name TEXT NOT NULL, 
	words TEXT NOT NULL, 
	PRIMARY KEY (name)
);

CREATE TABLE grants (
	data_set TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	analyst TEXT NOT NULL, 
	columns TEXT NOT NULL, 
	made TEXT NOT NULL, 
	withdrawn TEXT, 
	PRIMARY KEY (data_set, purpose, analyst), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name), 
	FOREIGN KEY(analyst) REFERENCES people (name)
);

CREATE TABLE held (
	data_set TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	since TEXT NOT NULL, 
	members TEXT, 
	PRIMARY KEY (data_set, version), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name)
);

CREATE TABLE identities (
	person TEXT NOT NULL, 
	issuer TEXT NOT NULL, 
	email TEXT, 
	subject TEXT, 
	linked TEXT NOT NULL, 
	linked_by TEXT NOT NULL, 
	PRIMARY KEY (person), 
	UNIQUE (issuer, email), 
	UNIQUE (issuer, subject), 
	FOREIGN KEY(person) REFERENCES people (name)
);

CREATE TABLE invitations (
	digest TEXT NOT NULL, 
	survey TEXT NOT NULL, 
	used BOOLEAN NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(survey) REFERENCES surveys (name)
);

CREATE TABLE notices (
	data_set TEXT NOT NULL, 
	machine TEXT NOT NULL, 
	since TEXT NOT NULL, 
	steady BIGINT NOT NULL, 
	PRIMARY KEY (data_set, machine), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name)
);

CREATE TABLE people (
	name TEXT NOT NULL, 
	roles TEXT NOT NULL, 
	password TEXT NOT NULL, 
	must_change BOOLEAN NOT NULL, 
	active BOOLEAN NOT NULL, 
	made TEXT NOT NULL, handed TEXT, handed_by TEXT, 
	PRIMARY KEY (name)
);

CREATE TABLE proposals (
	id TEXT NOT NULL, 
	data_set TEXT NOT NULL, 
	purpose TEXT, 
	analyst TEXT, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	why TEXT NOT NULL, 
	state TEXT NOT NULL, 
	proposed_by TEXT NOT NULL, 
	proposed TEXT NOT NULL, 
	decided_by TEXT, 
	decided TEXT, 
	reason TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name), 
	FOREIGN KEY(proposed_by) REFERENCES people (name)
);

CREATE TABLE purposes (
	data_set TEXT NOT NULL, 
	name TEXT NOT NULL, 
	description TEXT NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	expires TEXT, 
	PRIMARY KEY (data_set, name), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name)
);

CREATE TABLE releases (
	id TEXT NOT NULL, 
	analyst TEXT NOT NULL, 
	data_set TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	time TEXT NOT NULL, 
	release TEXT NOT NULL, sent_as TEXT, sent TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(analyst) REFERENCES people (name)
);

CREATE TABLE report_counts (
	survey TEXT NOT NULL, 
	question INTEGER NOT NULL, 
	report TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	PRIMARY KEY (survey, question, report), 
	FOREIGN KEY(survey) REFERENCES surveys (name)
);

CREATE TABLE requests (
	id TEXT NOT NULL, 
	data_set TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	analyst TEXT NOT NULL, 
	columns TEXT NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	why TEXT NOT NULL, 
	expires TEXT, 
	state TEXT NOT NULL, 
	made TEXT NOT NULL, 
	decided_by TEXT, 
	decided TEXT, 
	reason TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(data_set) REFERENCES data_sets (name), 
	FOREIGN KEY(analyst) REFERENCES people (name)
);

CREATE TABLE seen (
	only INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	decided TEXT NOT NULL, 
	PRIMARY KEY (only)
);

CREATE TABLE sessions (
	digest TEXT NOT NULL, 
	person TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	elevated_until TEXT, until TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(person) REFERENCES people (name)
);

CREATE TABLE split_reports (
	survey TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	nonce TEXT NOT NULL, 
	half TEXT NOT NULL, 
	shares TEXT, 
	PRIMARY KEY (survey, place, nonce)
);

CREATE TABLE stored (
	person TEXT NOT NULL, 
	day TEXT NOT NULL, 
	letters BIGINT NOT NULL, 
	PRIMARY KEY (person, day), 
	FOREIGN KEY(person) REFERENCES people (name)
);

CREATE TABLE subject_keys (
	finder TEXT NOT NULL, 
	"key" BLOB NOT NULL, 
	PRIMARY KEY (finder)
);

CREATE TABLE surveys (
	name TEXT NOT NULL, 
	survey TEXT NOT NULL, 
	made TEXT NOT NULL, 
	made_by TEXT NOT NULL, 
	closed TEXT, 
	PRIMARY KEY (name)
);

CREATE TABLE tokens (
	id TEXT NOT NULL, 
	person TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	scopes TEXT NOT NULL, 
	label TEXT NOT NULL, 
	created TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	revoked BOOLEAN NOT NULL, 
	elevated BOOLEAN NOT NULL, 
	last_used TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person) REFERENCES people (name), 
	UNIQUE (digest)
);

CREATE TABLE tries (
	digest TEXT NOT NULL, 
	since INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	PRIMARY KEY (digest)
);

CREATE INDEX ix_drafts_person ON drafts (person);

CREATE INDEX ix_invitations_survey ON invitations (survey);

CREATE INDEX ix_releases_analyst ON releases (analyst);

CREATE INDEX ix_releases_sent_as ON releases (sent_as);

CREATE INDEX ix_requests_analyst ON requests (analyst);

CREATE INDEX ix_sessions_person ON sessions (person);

CREATE INDEX ix_tokens_person ON tokens (person)
