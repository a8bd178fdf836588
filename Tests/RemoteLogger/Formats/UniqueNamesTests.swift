import Testing

@testable import RemoteLogger

@Suite(.timeLimit(.minutes(5))) struct UniqueNamesTests {
    private func names(_ wanted: [String], taken: Set<String> = [], maximum: Int = .max) -> [String] {
        var names = UniqueNames(taken: taken, maximum: maximum)
        return wanted.map { names.name(for: $0) }
    }

    @Test func `a name that is taken gets underscores, then numbers`() {
        #expect(names(["a", "b", "a"]) == ["a", "b", "a_"])
        #expect(names(["source"], taken: ["source"]) == ["source_"])
        #expect(names(["a", "a_", "a"]) == ["a", "a_", "a__"])
        let many = names([String](repeating: "a", count: 12))
        #expect(many == (0...8).map { "a" + String(repeating: "_", count: $0) } + ["a_9", "a_10", "a_11"])
        #expect(names(["a_9", "a_10"] + [String](repeating: "a", count: 10)).last == "a_11")
    }

    /// Names that would take quadratic time if each search began at the first candidate.
    private static let floods: [[String]] = [
        [String](repeating: "_", count: 20_000),
        (0..<20_000).map { "a_\($0)" } + [String](repeating: "a", count: 20_000),
        (0..<20_000).map { String(repeating: "_", count: $0 % 200) },
        (0..<20_000).map { number in String((0..<15).map { number >> $0 & 1 == 0 ? "a" : "_" }) },
        (0..<20_000).map { "\($0 % 7)" },
        [String](repeating: String(repeating: "long", count: 100), count: 20_000),
    ]

    @Test(arguments: floods.indices) func `many names of one kind stay apart and short, in linear time`(index: Int) {
        let wanted = Self.floods[index]
        let given = names(wanted)
        #expect(Set(given).count == wanted.count)
        #expect(zip(wanted, given).allSatisfy { $1.hasPrefix($0) && $1.utf8.count <= $0.utf8.count + 12 })
    }

    @Test(arguments: [32, 100, 1_001]) func `a bound of bytes is kept`(maximum: Int) {
        let long = String(repeating: "x", count: maximum)
        let given = names([String](repeating: long, count: 5_000), maximum: maximum)
        #expect(Set(given).count == 5_000 && given.allSatisfy { $0.utf8.count <= maximum })
    }

    @Test func `spellings that are one to the receiver are one here`() {
        var names = UniqueNames { $0.replacing(".", with: "_") }
        #expect(["a.b", "a_b", "a.b", "a_b_"].map { names.name(for: $0) } == ["a.b", "a_b_", "a.b__", "a_b___"])
        var many = UniqueNames { $0.replacing(".", with: "_") }
        // Every spelling of one name with twelve dots.
        let spellings = (0..<4_096).map { number in "a" + (0..<12).map { number >> $0 & 1 == 0 ? ".a" : "_a" }.joined() }
        let given = spellings.map { many.name(for: $0) }
        #expect(Set(given.map { $0.replacing(".", with: "_") }).count == 4_096)
    }
}
