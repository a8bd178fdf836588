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

    @Test func `a switch tells known members and a default`() {
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
    func `flags keep what the model doesn't know`(_ text: String, _ written: String) {
        #expect(Rights(text).text == written && Rights(Rights(text).text) == Rights(text))
    }

    @Test func `flags are a set`() {
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

    @Test func `any text gives flags that write an equal text`() throws {
        var generator = SeededGenerator(seed: 34)
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let parts = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                ["read", "write", "delete", "none", "x", "8", "16", "readWrite", " ", "-3"].randomElement(using: &generator) ?? ""
            }
            let rights = Rights(parts.joined(separator: ","))
            #expect(Rights(rights.text) == rights)
        }
    }
}
