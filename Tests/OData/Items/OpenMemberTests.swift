import Foundation
import OData
import TestSupport
import Testing

@Suite struct OpenMemberTests {
    private typealias AgeGroup = SampleGraph.AgeGroup
    private typealias Rights = SampleGraph.Rights

    @Test func `a member has a name and a number`() {
        #expect(AgeGroup.adult.name == "adult" && AgeGroup.adult.number == 3 && AgeGroup.adult.isKnown)
        #expect(AgeGroup("elder").number == nil && !AgeGroup("elder").isKnown && AgeGroup("elder").description == "elder")
        #expect(AgeGroup("3") == .adult && AgeGroup(number: 3) == .adult)
        #expect(AgeGroup(number: 99).name == "99" && AgeGroup("99").number == 99)
        #expect(AgeGroup.known.map(\.name) == ["minor", "notAdult", "adult", "unknownFutureValue"])
        #expect(AgeGroup("").name.isEmpty && AgeGroup("-").name == "-" && AgeGroup("99999999999999999999").number == nil)
    }

    @Test func `a switch distinguishes known members and a default`() {
        func text(_ member: AgeGroup?) -> String {
            switch member {
            case .adult?: "adult"
            case .minor?: "minor"
            case let other?: other.name
            default: "none"
            }
        }
        #expect([text(.adult), text(.minor), text(AgeGroup("elder")), text(nil)] == ["adult", "minor", "elder", "none"])
    }

    @Test func `members are coded by name, and read from numbers`() throws {
        for decode in [{ try JSONDecoder().decode($0, from: $1) }, { try ODataDecoder().decode($0, from: $1) }]
            as [([AgeGroup].Type, Data) throws -> [AgeGroup]]
        {
            #expect(try decode([AgeGroup].self, Data(#"["adult",1,"elder","2"]"#.utf8)) == [.adult, .minor, AgeGroup("elder"), .notAdult])
        }
        #expect(try ODataEncoder().encode([AgeGroup.adult, AgeGroup("7")]) == Data(#"["adult","7"]"#.utf8))
        #expect(AgeGroup.adult.edmValue == .enumeration(type: "microsoft.graph.ageGroup", member: "adult"))
    }

    @Test(arguments: [
        ("read,write", "readWrite"), ("read, delete", "read,delete"), ("7", "readWrite,delete"), ("9", "read,8"), ("none", "none"),
        ("", "none"),
        ("0", "none"), ("mystery,read", "read,mystery"), (" ,, ", "none"), ("readWrite,8,x", "readWrite,8,x"),
    ])
    func `flags keep unknown members`(_ text: String, _ written: String) {
        #expect(Rights(text).text == written && Rights(Rights(text).text) == Rights(text))
    }

    @Test func `flags behave like a set`() {
        var rights: Rights = [.read, .write]
        #expect(rights == .readWrite && rights.contains(.read) && !rights.contains(.delete) && rights.contains(.readWrite))
        rights.insert(.delete)
        rights.remove(.write)
        #expect(rights == [.read, .delete] && rights.rawValue == 5)
        let unknown = Rights("read,mystery")
        #expect(unknown.union(.write) == Rights("write,mystery,read") && unknown.contains(.read) && !Rights.read.contains(unknown))
        #expect(unknown.intersection(.readWrite) == .read && unknown.subtracting(.read) == Rights("mystery"))
        #expect(unknown.symmetricDifference(Rights("mystery,write")) == .readWrite)
        #expect(Rights().isEmpty && !Rights("mystery").isEmpty && Rights("mystery").isSubset(of: unknown))
        #expect(Rights(rawValue: -1).contains(.read) && Rights(String(Int64.min)).rawValue == .min)
    }

    /// The bits and names of flags, as a set to compare with.
    private func parts(_ rights: Rights) -> Set<String> {
        let bits = (0..<64).filter { rights.rawValue & 1 << Int64($0) != 0 }
        return Set(bits.map { "bit \($0)" } + rights.unknownNames)
    }

    @Test func `an unknown name is a flag like others`() {
        let (plain, more) = (Rights.read, Rights(rawValue: 1, unknownNames: ["future"]))
        #expect(plain != more && Set([plain, more]).count == 2 && more == Rights("future,read"))
        #expect(more.union(.write).unknownNames == ["future"] && more.intersection(more).unknownNames == ["future"])
        #expect(plain.symmetricDifference(more).unknownNames == ["future"] && plain.symmetricDifference(more).rawValue == 0)
        #expect(!Rights("future").isDisjoint(with: more) && Rights("future").isDisjoint(with: plain))
        #expect(plain.isStrictSubset(of: more) && !more.isSubset(of: plain) && more.isStrictSuperset(of: plain))
        var rights = more
        let removed = rights.remove(Rights("future,write"))
        #expect(removed?.unknownNames == ["future"] && removed?.rawValue == 0 && rights.text == "read")
        let none = rights.remove(Rights("future"))
        let present = rights.update(with: more)
        #expect(none == nil && present?.text == "read" && rights.text == "read,future")
        let absent = rights.update(with: Rights("other"))
        #expect(absent == nil && rights.unknownNames == ["future", "other"])
        let (again, new) = (rights.insert(Rights("other")).inserted, rights.insert(Rights("third")).inserted)
        #expect(!again && new && rights.unknownNames == ["future", "other", "third"])
        let listed: Rights = [Rights("b"), Rights("a"), .read]
        #expect(listed.unknownNames == ["a", "b"] && listed.contains(.read) && listed.contains(Rights("a,b")))
    }

    @Test func `flags combine like sets of bits and names`() {
        var generator = SeededGenerator(seed: 36)
        func sample() -> Rights {
            let names = ["x", "y", "z"].filter { _ in Bool.random(using: &generator) }
            return Rights(rawValue: Int64.random(in: 0...15, using: &generator), unknownNames: names)
        }
        func check<Flags: OptionSet>(_ first: Flags, _ second: Flags, _ parts: (Flags) -> Set<String>)
        where Flags.Element == Flags, Flags.ArrayLiteralElement == Flags {
            // By the protocol, as generic code calls them.
            let (one, two) = (parts(first), parts(second))
            #expect(parts(first.union(second)) == one.union(two) && parts(first.intersection(second)) == one.intersection(two))
            #expect(parts(first.symmetricDifference(second)) == one.symmetricDifference(two))
            #expect(parts(first.subtracting(second)) == one.subtracting(two))
            #expect(first.isSubset(of: second) == one.isSubset(of: two) && first.isSuperset(of: second) == one.isSuperset(of: two))
            #expect(first.isStrictSubset(of: second) == one.isStrictSubset(of: two) && (first == second) == (one == two))
            #expect(first.isDisjoint(with: second) == one.isDisjoint(with: two) && first.isEmpty == one.isEmpty)
            #expect(first.contains(second) == two.isSubset(of: one) && parts([first, second]) == one.union(two))
            var changed = first
            let removed = changed.remove(second).map(parts) ?? []
            #expect(removed == one.intersection(two) && parts(changed) == one.subtracting(two))
            changed = first
            let present = changed.update(with: second).map(parts) ?? []
            #expect(present == one.intersection(two) && parts(changed) == one.union(two))
            changed = first
            let isNew = changed.insert(second).inserted
            #expect(isNew == !two.isSubset(of: one) && parts(changed) == one.union(two))
            changed = first
            changed.formIntersection(second)
            #expect(parts(changed) == one.intersection(two))
            changed = first
            changed.formSymmetricDifference(second)
            #expect(parts(changed) == one.symmetricDifference(two))
            changed = first
            changed.subtract(second)
            #expect(parts(changed) == one.subtracting(two))
        }
        for _ in 0..<Sweep.rounds(ofAll: 400) { check(sample(), sample(), parts) }
    }

    @Test func `flags from any text are written as an equal text`() throws {
        var generator = SeededGenerator(seed: 34)
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let parts = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                ["read", "write", "delete", "none", "x", "8", "16", "readWrite", " ", "-3"].randomElement(using: &generator) ?? ""
            }
            let rights = Rights(parts.joined(separator: ","))
            #expect(Rights(rights.text) == rights && Rights(rights.text).text == rights.text)
            #expect(Set(rights.unknownNames) == (rights.text.contains("x") ? ["x"] : []))
        }
    }
}
