"""What a program sees of lakesql by SQLAlchemy 2 over a driver: reflection, the ORM, transactions.

    alchemy.py DRIVER HOST PORT CA

Each line of the output is one fact, whose first word says what of.
"""
import decimal
import sys
import warnings

import sqlalchemy as sa
from sqlalchemy import exc, orm

driver, host, port, ca = sys.argv[1:]
warnings.simplefilter("always")
warnings.showwarning = lambda message, *_: print("warns", message)

TLS = {"pymysql": {"ssl": {"ca": ca}}, "mysqlconnector": {"ssl_ca": ca, "ssl_verify_cert": True}}
engine = sa.create_engine("mysql+%s://ann:secret@%s:%s/shop" % (driver, host, port), connect_args=TLS[driver])

inspector = sa.inspect(engine)
print("schemas", "shop" in inspector.get_schema_names(), inspector.default_schema_name)
print("tables", inspector.get_table_names(), inspector.get_view_names())
for c in inspector.get_columns("every"):
    print("column", c["name"], c["type"], c["nullable"], c["default"], c["comment"])
print("key", inspector.get_pk_constraint("every")["constrained_columns"], inspector.get_foreign_keys("every"), inspector.get_indexes("every"))
print("unique", inspector.get_unique_constraints("every"), inspector.get_check_constraints("every"))
print("comment", inspector.get_table_comment("every"))
print("has", inspector.has_table("every"), inspector.has_table("nosuch"))
try:
    inspector.get_columns("nosuch")
except exc.NoSuchTableError as e:
    print("nosuch", e)
print("view", inspector.get_view_definition("small"))

meta = sa.MetaData()
meta.reflect(engine)
every = meta.tables["every"]
print("reflected", sorted(meta.tables), len(every.columns))
with engine.connect() as c:
    for row in c.execute(sa.select(every).order_by(every.c.id)):
        print("row", *(repr(v) for v in row))
    print("grouped", c.execute(sa.select(every.c.part, sa.func.count(), sa.func.sum(every.c.exact)).group_by(every.c.part).order_by(every.c.part)).all())
    print("bound", c.execute(sa.select(every.c.id).where(every.c.word == "Grüße ✓", every.c.exact < decimal.Decimal("0.01"), every.c.id.in_([1, 2]))).all())

# A class of the ORM in a table that it makes.
class Base(orm.DeclarativeBase):
    pass


class Thing(Base):
    __tablename__ = "things"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True, autoincrement=False)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(20), comment="what it is called")
    price: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2))
    more: orm.Mapped[dict | None] = orm.mapped_column(sa.JSON)


Base.metadata.create_all(engine)
Base.metadata.create_all(engine)  # it is there
print("made", [(c["name"], str(c["type"]), c["nullable"]) for c in sa.inspect(engine).get_columns("things")], sa.inspect(engine).get_pk_constraint("things")["constrained_columns"])
with orm.Session(engine) as session:
    session.add_all(Thing(id=i, name="thing %d" % i, price=decimal.Decimal(i) / 4, more={"n": [i]}) for i in range(1, 4))
    session.commit()
    session.get(Thing, 2).name = "renamed"
    session.delete(session.get(Thing, 3))
    session.commit()
    session.get(Thing, 1).name = "taken back"
    session.flush()
    session.rollback()
    print("things", [(t.id, t.name, t.price, t.more) for t in session.scalars(sa.select(Thing).order_by(Thing.id))])

def fails(what, statement):
    try:
        with engine.connect() as c:
            c.execute(sa.text(statement))
        print("fails", what, "not")
    except exc.DBAPIError as e:
        print("fails", what, e.orig.args[0], e.connection_invalidated)


fails("syntax", "SELEC 1")
fails("table", "SELECT * FROM nosuch")
fails("privilege", "SELECT * FROM lake.secrets")
print("sane", engine.dialect.server_version_info >= (8, 0), engine.dialect.is_mariadb)
Base.metadata.drop_all(engine)
print("dropped", sa.inspect(engine).has_table("things"))
