// Draws answers from a sampler of utmost, format 1, exactly; the format is in proofs/theory/samplers.md.
// A draw takes `bits` random bits as a number, highest first; a number above the last of its row is thrown away and
// drawn anew; else the answer is the first whose last number is not below it. Each answer has the probability that the
// table states, and no other. Answer once and keep the answer: a second draw about one person costs the level again.
//
// From the bytes of sampler.json:
//     let sampler = try JSONDecoder().decode(Sampler.self, from: data)
//     let answer = try sampler.draw("Louvre")

import Foundation

enum SamplerError: Error { case notASampler, noSuchSecret }

/// The table; numbers stay bytes, the highest first, which compare as numbers do.
struct Sampler: Decodable {
    let kind: String
    let format: Int
    let secrets: [String]
    let answers: [String]
    let bits: Int
    let lasts: [[String]]

    /// A fresh answer for a secret. Cost: (bits + 7) / 8 random bytes and one comparison for each answer a try; fewer
    /// than two tries in the mean, and their number has the same distribution for each secret.
    /// `fill` gives so many random bytes: the system's own, which are secure on Apple's systems and on Linux.
    func draw(_ secret: String, fill: (Int) -> [UInt8] = Sampler.systemBytes) throws -> String {
        guard kind == "utmost sampler", format == 1 else { throw SamplerError.notASampler }
        guard let at = secrets.firstIndex(of: secret) else { throw SamplerError.noSuchSecret }
        let row = lasts[at].map(Sampler.bytes)
        while true {
            let number = self.number(fill)
            let passed = row.filter { last in last.lexicographicallyPrecedes(number) }.count
            if passed < answers.count { return answers[passed] }
        }
    }

    /// A uniform number of so many bits: the bits above them are set to 0.
    private func number(_ fill: (Int) -> [UInt8]) -> [UInt8] {
        var number = fill((bits + 7) / 8)
        if bits % 8 != 0 { number[0] &= UInt8((1 << (bits % 8)) - 1) }
        return number
    }

    /// The bytes of a number in hexadecimal, two digits each.
    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(16 * digits[$0] + digits[$0 + 1]) }
    }

    static func systemBytes(_ count: Int) -> [UInt8] {
        var system = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &system) }
    }
}
