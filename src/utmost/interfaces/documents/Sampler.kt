// Draws answers from a sampler of utmost, format 1, exactly; the format is in proofs/theory/samplers.md.
// A draw takes `bits` random bits as a number, highest first; a number above the last of its row is thrown away and
// drawn anew; else the answer is the first whose last number is not below it. Each answer has the probability that the
// table states, and no other. Answer once and keep the answer: a second draw about one person costs the level again.
//
// On Android, from the text of sampler.json:
//     val table = JSONObject(text)
//     val texts = { list: JSONArray -> List(list.length()) { list.getString(it) } }
//     val rows = table.getJSONArray("lasts")
//     val sampler = Sampler(table.getString("kind"), table.getInt("format"), texts(table.getJSONArray("secrets")),
//         texts(table.getJSONArray("answers")), table.getInt("bits"),
//         List(rows.length()) { texts(rows.getJSONArray(it)) })

import java.math.BigInteger
import java.security.SecureRandom

private val secure = SecureRandom()

/** The fields of the table as they stand there; `fill` puts random bytes into an array: the system's own. */
class Sampler(
    kind: String,
    format: Int,
    private val secrets: List<String>,
    private val answers: List<String>,
    private val bits: Int,
    lasts: List<List<String>>,
    private val fill: (ByteArray) -> Unit = { secure.nextBytes(it) }
) {
    private val rows: List<List<BigInteger>>

    init {
        require(kind == "utmost sampler" && format == 1) { "a sampler of format 1 is needed" }
        rows = lasts.map { row -> row.map { last -> BigInteger("0$last", 16) } }
    }

    /**
     * A fresh answer for a secret. Cost: (bits + 7) / 8 random bytes and one comparison for each answer a try; fewer
     * than two tries in the mean, and their number has the same distribution for each secret.
     */
    fun draw(secret: String): String {
        val at = secrets.indexOf(secret)
        require(at >= 0) { "the secret must be one of the sampler's" }
        while (true) {
            val number = number()
            val passed = rows[at].count { last -> number > last }
            if (passed < answers.size) return answers[passed]
        }
    }

    /** A uniform number of so many bits. */
    private fun number(): BigInteger {
        val bytes = ByteArray((bits + 7) / 8)
        fill(bytes)
        return BigInteger(1, bytes).and(BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE))
    }
}
