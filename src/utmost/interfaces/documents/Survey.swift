// Draws short reports of a survey of utmost exactly, by survey_draws.json of format 1; see proofs/theory/samplers.md.
// A report is the number of a block of answers. Each draw below a whole number is made by throwing away what is not
// below it, and all draws are made whatever the answer is. Report once and keep the report: a second one about one
// person costs the level again.
//
// From the bytes of survey_draws.json:
//     let survey = try JSONDecoder().decode(Survey.self, from: data)
//     let report = try survey.report("tea")

import Foundation

enum SurveyError: Error { case notASurvey, noSuchAnswer }

/// The table; numbers stay bytes, the highest first, which compare as numbers do where they are of one length.
struct Survey: Decodable {
    let kind: String
    let format: Int
    let labels: [String]
    let multipliers: [Int]
    let bases: [[Int]]
    let lasts: [String]
    let inside: [String]

    /// A fresh report of an answer. Cost: five draws, whatever the number of answers is.
    /// `fill` gives so many random bytes: the system's own, which are secure on Apple's systems and on Linux.
    func report(_ answer: String, fill: (Int) -> [UInt8] = Survey.systemBytes) throws -> Int {
        guard kind == "utmost survey draws", format == 1 else { throw SurveyError.notASurvey }
        guard let value = labels.firstIndex(of: answer) else { throw SurveyError.noSuchAnswer }
        let ends = lasts.map(Survey.bytes), chances = inside.map(Survey.bytes), count = labels.count
        let drawn = Survey.below(ends[ends.count - 1], fill)
        let base = ends.filter { end in !Survey.isLess(drawn, end) }.count
        let at = Survey.below(multipliers.count, fill)
        let isInside = Survey.isLess(Survey.below(chances[1], fill), chances[0])
        let others = (0..<count).filter { residue in !bases[base].contains(residue) }
        let member = bases[base][Survey.below(bases[base].count, fill)]
        let other = others[Survey.below(others.count, fill)]
        let shift = (value - multipliers[at] * (isInside ? member : other)) % count
        return (base * multipliers.count + at) * count + (shift + count) % count
    }

    private static func below(_ whole: Int, _ fill: (Int) -> [UInt8]) -> Int {
        let bytes = (0..<8).reversed().map { place in UInt8((whole >> (8 * place)) & 255) }
        return below(bytes, fill).reduce(0) { number, byte in number * 256 + Int(byte) }
    }

    /// A uniform number below a whole one: as many bits as the largest has, drawn anew until they are below it.
    private static func below(_ whole: [UInt8], _ fill: (Int) -> [UInt8]) -> [UInt8] {
        var largest = whole, place = whole.count - 1
        while largest[place] == 0 { largest[place] = 255; place -= 1 }
        largest[place] -= 1
        let highest = Array(largest.drop { byte in byte == 0 })
        while true {
            var number = fill(highest.count)
            if let top = highest.first { number[0] &= UInt8.max >> UInt8(top.leadingZeroBitCount) }
            if isLess(number, whole) { return number }
        }
    }

    private static func isLess(_ number: [UInt8], _ whole: [UInt8]) -> Bool {
        let length = max(number.count, whole.count)
        let padded = [number, whole].map { bytes in [UInt8](repeating: 0, count: length - bytes.count) + bytes }
        return padded[0].lexicographicallyPrecedes(padded[1])
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
