// Draws short reports of a survey of utmost exactly, by survey_draws.json of format 1; see proofs/theory/samplers.md.
// A report is the number of a block of answers. Each draw below a whole number is made by throwing away what is not
// below it, and all draws are made whatever the answer is. Report once and keep the report: a second one about one
// person costs the level again.
//
// On Android, from the text of survey_draws.json:
//     val table = JSONObject(text)
//     val texts = { list: JSONArray -> List(list.length()) { list.getString(it) } }
//     val numbers = { list: JSONArray -> List(list.length()) { list.getInt(it) } }
//     val bases = table.getJSONArray("bases")
//     val survey = Survey(table.getString("kind"), table.getInt("format"), texts(table.getJSONArray("labels")),
//         numbers(table.getJSONArray("multipliers")), List(bases.length()) { numbers(bases.getJSONArray(it)) },
//         texts(table.getJSONArray("lasts")), texts(table.getJSONArray("inside")))

import java.math.BigInteger
import java.security.SecureRandom

private val secure = SecureRandom()

/** The fields of the table as they stand there; `fill` puts random bytes into an array: the system's own. */
class Survey(
    kind: String,
    format: Int,
    private val labels: List<String>,
    private val multipliers: List<Int>,
    private val bases: List<List<Int>>,
    lasts: List<String>,
    inside: List<String>,
    private val fill: (ByteArray) -> Unit = { secure.nextBytes(it) }
) {
    private val lasts = lasts.map { BigInteger(it, 16) }
    private val inside = inside.map { BigInteger(it, 16) }
    private val others = bases.map { base -> labels.indices.filter { it !in base } }

    init {
        require(kind == "utmost survey draws" && format == 1) { "draws of a survey of format 1 are needed" }
    }

    /** A fresh report of an answer. Cost: five draws, whatever the number of answers is. */
    fun report(answer: String): Long {
        val value = labels.indexOf(answer)
        require(value >= 0) { "the answer must be one of the survey's" }
        val drawn = below(lasts.last())
        val base = lasts.count { last -> drawn >= last }
        val at = below(multipliers.size)
        val isInside = below(inside[1]) < inside[0]
        val member = bases[base][below(bases[base].size)]
        val other = others[base][below(others[base].size)]
        val shift = value - multipliers[at].toLong() * (if (isInside) member else other)
        return (base.toLong() * multipliers.size + at) * labels.size + Math.floorMod(shift, labels.size.toLong())
    }

    private fun below(whole: Int): Int = below(BigInteger.valueOf(whole.toLong())).toInt()

    /** A uniform number below a whole one: as many bits as the largest has, drawn anew until they are below it. */
    private fun below(whole: BigInteger): BigInteger {
        val bits = whole.subtract(BigInteger.ONE).bitLength()
        val bytes = ByteArray((bits + 7) / 8)
        while (true) {
            fill(bytes)
            val number = BigInteger(1, bytes).and(BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE))
            if (number < whole) return number
        }
    }
}
