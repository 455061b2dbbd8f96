"""A command line for every command that answers on standard output, and the files that they read."""

HALF = "--epsilon alpha=1/2"
PROMISE = "--columns n --public town --sensitivity 1 --cells 1 --epsilon 1"

FILES = {
    "events.csv": "p,town\n" + "".join(f"{p},{('Ash', 'Elm')[p % 2]}\n" for p in range(40)),
    "domain.json": '{"town": ["Ash", "Elm"]}',
    "two.csv": "town,sex\n" + "".join(f"{('Ash', 'Elm')[p % 2]},{'mw'[p % 3 > 0]}\n" for p in range(40)),
    "two.json": '{"town": ["Ash", "Elm"], "sex": ["m", "w"]}',
    "t.csv": "town,n\nAsh,12\nElm,7\n",
    "secrets.csv": "town,n\nAsh,1\nElm,2\n",
    "policy.csv": "flu,cold\ncold,well\n",
    "edges.csv": "ann,bo\nbo,cy\n",
    "book.csv": "variable,code,label\ntown,Ash,the north\ntown,Elm,the south\n",
    "one.csv": "1/2,1/2\n1/3,2/3\n",
    "other.csv": "1/2,1/2\n1/2,1/2\n",
}

READY = f"""
count events.csv --person p --at-most 1 --domain domain.json --out c.json
count events.csv --person p --contributions at-most=1,2 --domain domain.json --out part.json
plan c.json --want town --epsilon 1 --out plan.json
release c.json --plan plan.json --epsilon 1 --out r.json
release t.csv {PROMISE} --out r.csv
ledger create l.db && release t.csv {PROMISE} --ledger l.db --name r --dataset d --out kept.csv
ledger backup --ledger l.db --out copy.db
design --space counts:3 --prior uniform {HALF} --out design.json
"""
"""What the table below needs: files that commands make, in this order."""

JSON = {
    "count": "events.csv --person p --at-most 1 --domain domain.json --out counted.json",
    "bounds": "part.json --public --persons 40 --domain domain.json --epsilon 1",
    "plan": "c.json --want town --epsilon 1",
    "share": "plan.json --epsilon 1",
    "promise": "c.json",
    "release": f"t.csv {PROMISE} --out json.csv",
    "clean": "r.json",
    "withhold": "r.csv --below 5",
    "statement": "r.csv",
    "verify": "r.csv",
    "total": "r.json --where town=Ash",
    "read": "--response 1 --n 2 --prior uniform --epsilon 1",
    "relax": "t.csv --ledger l.db --name r --epsilon 2 --out relaxed.csv",
    "view": "--ledger l.db --name r --epsilon 1/2 --out view.csv",
    "ledger status": "--ledger l.db",
    "ledger verify": "--ledger l.db",
    "ledger history": "--ledger l.db",
    "ledger budget": "--ledger l.db --dataset d --limit 9",
    "ledger backup": "--ledger l.db --out copy2.db",
    "ledger restore": "copy.db --ledger l2.db --key-file l.db.key",
    "ledger resume": "--ledger l2.db --key-file l.db.key --reason moved --nothing-missing",
    "ledger receipt": "--ledger l.db",
    "trust": f"edges.csv --owner ann {HALF}",
    "research lossless": "1 2 --numbers reals --distribution laplace",
    "noise": "--epsilon 1 --sensitivity 2",
    "research compare": "",
    "epsilon-for": "--margin 10 --sensitivity 1",
    "design": f"--space counts:3 --prior uniform {HALF}",
    "research policy": "policy.csv --epsilon 1",
    "research minimax": "--space counts:5 --loss absolute --epsilon 1",
    "respond": "design.json --secret 1",
    "export": "design.json --out phone --round",
    "categories": "--categories 5 --epsilon 1",
    "research words": "--epsilon 1",
    "research leakage": "one.csv",
    "research refine": "one.csv other.csv",
    "research capacity": f"--space graph:edges.csv {HALF}",
    "research vertices": f"--space line:3 {HALF}",
    "research kernels": f"--space counts:3 {HALF}",
    "research universal": f"--space counts:3 {HALF}",
    "research databases": f"--values 2 --rows 2 {HALF}",
    "doctor": "",
    "detail": "two.csv --each-row --domain two.json --group town --detail sex=5 --epsilon 1",
    "init": "--each-row --by town --domain domain.json --epsilon 1 --out recipe.toml",
    "domain check": "events.csv --domain domain.json",
    "domain propose": "book.csv",
    "ledger charge": "--ledger l.db --dataset d --epsilon 1/8 --what other",
    "ledger create": "l4.db",
    "declare": "t.csv --noise n=discrete-laplace:scale=2 --source OpenDP --out declared.csv",
}
"""Every command that has --json, in words that it takes."""

PIPE = {name: f"{words} --out -" for name, words in JSON.items() if "--out " not in words and name != "trust"} | {
    "count": "events.csv --person p --at-most 1 --domain domain.json --out - --format csv",
    "init": "--each-row --by town --domain domain.json --epsilon 1 --out -",
    "release": f"t.csv {PROMISE} --out -",
    "read": "r.csv --out -",
    "relax": "t.csv --ledger l.db --name r --epsilon 3 --out -",
    "view": "--ledger l.db --name r --epsilon 1/3 --out -",
    "ledger restore": "copy.db --ledger l3.db --key-file l.db.key --out -",
    "ledger resume": "--ledger l3.db --key-file l.db.key --reason moved --nothing-missing --out -",
    "respond": "design.json --file secrets.csv --column n --drop town --out -",
    "categories": "--labels 1,2 --epsilon 1 --file secrets.csv --column n --out -",
}
"""Every command that takes `--out -`."""
