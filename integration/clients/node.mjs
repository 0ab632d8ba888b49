// What a Node.js program sees of lakesql by mysql2, Sequelize and Knex.
//
//	node.mjs HOST PORT CA
//
// The packages lie in NODE_PATH. Each line of the output is one fact, whose first word says what of.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(process.env.NODE_PATH + '/');
const mysql = require('mysql2/promise');
const { Types } = require('mysql2');
const { Sequelize, QueryTypes } = require('sequelize');
const knex = require('knex');

const [host, port, ca] = process.argv.slice(2);
const tls = { ca: readFileSync(ca) };
const account = { host, port: Number(port), user: 'ann', password: 'secret', database: 'shop', timezone: 'Z', charset: 'utf8mb4' };
const secure = { ...account, ssl: tls };
const long = 'SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d';

function shown(v) {
  if (v === null) return 'null';
  if (Buffer.isBuffer(v)) return 'Buffer:0x' + v.toString('hex');
  if (v instanceof Date) return 'Date:' + v.toISOString();
  if (typeof v === 'object') return 'object:' + JSON.stringify(v);
  return typeof v + ':' + JSON.stringify(v);
}

async function fails(what, work) {
  try {
    await work();
    console.log('fails', what, 'not');
  } catch (e) {
    const error = e.original ?? e;
    console.log('fails', what, error.errno, error.sqlState, error.code);
  }
}

function types(what, [rows, fields]) {
  for (const f of fields) console.log(what, f.name, Types[f.columnType], ...rows.map((r) => shown(r[f.name])));
}

const db = await mysql.createConnection({ ...secure, supportBigNumbers: true });
const other = await mysql.createConnection(secure);
console.log('login', (await db.query('SELECT CURRENT_USER() AS who'))[0][0].who);
await fails('plain', () => mysql.createConnection(account));
await fails('password', () => mysql.createConnection({ ...secure, password: 'wrong' }));
await fails('database', () => mysql.createConnection({ ...secure, database: 'nosuch' }));
types('text', await db.query('SELECT * FROM every ORDER BY id'));
types('binary', await db.execute('SELECT * FROM every ORDER BY id'));
types('sum', await db.query('SELECT SUM(exact) AS exact, AVG(exact) AS mean, SUM(number) AS number, COUNT(*) AS n FROM every'));

const [bound] = await db.execute('SELECT id, ? AS text FROM every WHERE id >= ? AND exact < ? AND moment >= ? AND bytes = ? AND flag = ? LIMIT ?',
  ['Grüße ✓', 1, '0.01', new Date(Date.UTC(2024, 1, 29, 23, 59, 59, 123)), Buffer.from([0, 0xff, 0x80]), true, '5']);
console.log('bound', JSON.stringify(bound));
const [changed] = await db.execute('INSERT INTO changing VALUES (?), (?)', [10, null]);
console.log('changed', changed.affectedRows, JSON.stringify((await db.query('SELECT COUNT(*) AS n FROM changing'))[0]));
await db.query('DELETE FROM changing WHERE n = 10 OR n IS NULL');

await fails('syntax', () => db.query('SELEC 1'));
await fails('prepare', () => db.execute('SELEC ?', [1]));
await fails('table', () => db.query('SELECT * FROM nosuch'));
await fails('column', () => db.query('SELECT nosuch FROM every'));
await fails('privilege', () => db.query('SELECT * FROM lake.secrets'));
await fails('null', () => db.query('INSERT INTO every (tiny) VALUES (1)'));
await db.query('SET max_execution_time = 100');
await fails('timeout', () => db.query(long));
await db.query('SET max_execution_time = 0');
const killed = fails('killed', () => db.query(long));
const listed = () => other.query("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ? AND INFO LIKE 'SELECT COUNT%'", [db.threadId]);
while ((await listed())[0].length === 0);
await other.query('KILL QUERY ' + db.threadId);
await killed;
console.log('after', (await db.query('SELECT COUNT(*) AS n FROM every'))[0][0].n);

// Many statements in one, and a pool.
const many = await mysql.createConnection({ ...secure, multipleStatements: true });
console.log('many', JSON.stringify((await many.query('SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c'))[0]));
await fails('middle', () => many.query('SELECT 1; SELECT nosuch; SELECT 2'));
console.log('middle', JSON.stringify((await many.query('SELECT 4 AS d'))[0]));
await many.end();
const pool = mysql.createPool({ ...secure, connectionLimit: 3 });
console.log('pool', (await Promise.all([1, 2, 3, 4, 5, 6].map((n) => pool.query('SELECT ? AS n', [n])))).map(([r]) => r[0].n).join(' '));
await pool.end();
await db.end();
await other.end();

const orm = new Sequelize('shop', 'ann', 'secret', { host, port: Number(port), dialect: 'mysql', logging: false, dialectOptions: { ssl: tls } });
await orm.authenticate();
console.log('sequelize tables', (await orm.getQueryInterface().showAllTables()).map((t) => t.tableName ?? t).sort().join(' '));
for (const [name, column] of Object.entries(await orm.getQueryInterface().describeTable('every'))) {
  console.log('sequelize column', name, column.type, column.allowNull, column.primaryKey, column.comment);
}
const Changing = orm.define('changing', { n: { type: Sequelize.INTEGER, primaryKey: true } }, { tableName: 'changing', timestamps: false });
await Changing.bulkCreate([{ n: 20 }, { n: 21 }, { n: 22 }]);
await Changing.update({ n: 23 }, { where: { n: 22 } });
await Changing.destroy({ where: { n: 20 } });
console.log('sequelize rows', (await Changing.findAll({ order: ['n'] })).map((r) => r.n).join(' '));
console.log('sequelize bound', JSON.stringify(await orm.query('SELECT id, word FROM every WHERE id = :id', { replacements: { id: 1 }, type: QueryTypes.SELECT })));
await fails('sequelize', () => orm.query('SELECT * FROM nosuch'));
await orm.transaction((transaction) => Changing.create({ n: 24 }, { transaction }));
await orm.transaction(async (transaction) => {
  await Changing.create({ n: 25 }, { transaction });
  throw new Error('rolled back');
}).catch((e) => console.log('sequelize', e.message));
console.log('sequelize sum', await Changing.sum('n'));
await orm.close();

const builder = knex({ client: 'mysql2', connection: secure });
console.log('knex rows', JSON.stringify(await builder('every').select('id', 'word', 'exact').where('id', '<', 3).orderBy('id')));
console.log('knex columns', Object.keys(await builder('every').columnInfo()).length);
console.log('knex joined', JSON.stringify(await builder('every as e').join('changing as c', 'c.n', 'e.id').count({ n: '*' }).groupBy('e.part')));
await fails('knex', () => builder('nosuch').select());
await builder('changing').where('n', '>', 1).del();
console.log('knex left', JSON.stringify(await builder('changing').select()));
await builder.destroy();
