#!/bin/sh
# Departures from New York, from events to tables and back a year later: sh publish_departures.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1"
events="$here/departures.csv.gz" domain="$here/departures_domain.json"
head -c 32 /dev/zero > count.key # the same key counts the same flights again; it need not be secret
kept="--ledger departures.db --dataset aircraft"

utmost ledger create departures.db
# How many flights of one aircraft should count? A fifth of epsilon says, and the table of costs marks the best.
utmost count "$events" --person aircraft --domain "$domain" --contributions in-total=50,100,200,300,500 --out often.json
utmost release often.json --epsilon 1/5 --out often.csv $kept --name often
utmost bounds often.csv --domain "$domain" --epsilon 2

utmost count "$events" --person aircraft --domain "$domain" --in-total 200 --count-key count.key --out flights.json
echo '{"age": {"edges": [0, 5, 10, 15, 20, null], "missing": "not stated"}}' > age.json
utmost count "$events" --person aircraft --domain age.json --at-most 1 --values distance --each 0,3000 --most-events 100 \
  --count-key count.key --out miles.json

utmost plan flights.json --want "date age" --want "age delay=2" --want delay --want total --epsilon 1/2 --up-to 2 --out plan.json
utmost plan miles.json --want age --epsilon 4/5 --out sums.json
utmost release flights.json --plan plan.json --epsilon 1/2 --out flights-2014.json $kept --name flights
utmost release miles.json --plan sums.json --epsilon 4/5 --out miles-2014.json $kept --name miles
utmost total miles-2014.json --where age=20+ --mean distance

utmost relax flights.json --ledger departures.db --name flights --epsilon 2 --out flights-2015.json # a year later: 2 in all
for year in 2014 2015; do
  utmost total "flights-$year.json" --where age=20+ --median delay
  utmost withhold "flights-$year.json" --relative-margin 1/2 --want "age delay" --out "flights-$year.csv"
  utmost verify "flights-$year.csv"
done
utmost ledger status --ledger departures.db
