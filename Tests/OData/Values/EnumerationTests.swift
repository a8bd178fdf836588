import Foundation
import Testing

@testable import OData

@Suite struct EnumerationTests {
    enum Colour: String, EdmEnumeration { case red = "Red", green = "Green"; static let edmTypeName = "Sales.Colour" }

    @Test func `unknown members survive reading and writing`() throws {
        let json = Data(#"["Red","Blue","8"]"#.utf8)
        for values in [
            try ODataDecoder().decode([OpenEnumeration<Colour>].self, from: json),
            try JSONDecoder().decode([OpenEnumeration<Colour>].self, from: json),
        ] {
            #expect(values == [.known(.red), .unknown("Blue"), .unknown("8")])
            #expect(try ODataEncoder().encode(values) == json)
        }
        #expect(try ODataDecoder().decode([OpenEnumeration<Colour>].self, from: Data("[8]".utf8)) == [.unknown("8")])
        #expect(OpenEnumeration<Colour>("Green").known == .green)
    }

    @Test func `flags keep their order and unknown members`() throws {
        var flags = try ODataDecoder().decode([EdmFlags<Colour>].self, from: Data(#"["Green, Blue,Red"]"#.utf8))[0]
        #expect(flags.members == [.known(.green), .unknown("Blue"), .known(.red)] && flags.contains(.red))
        flags.remove(.red)
        flags.insert(.green)
        #expect(try ODataEncoder().encode([flags]) == Data(#"["Green,Blue"]"#.utf8))
        #expect(EdmFlags<Colour>("").members.isEmpty)
        #expect(EdmFlags<Colour>(.red, .green).description == "Red,Green")
    }

    @Test(arguments: ["Red , Blue, ", " ,Red,,Blue", "Red,Blue"])
    func `blanks around the commas of flags are ignored`(_ text: String) {
        let flags = EdmFlags<Colour>(text)
        #expect(flags.members == [.known(.red), .unknown("Blue")] && flags.description == "Red,Blue")
    }

    @Test func `a blank within a flag's name is kept, and a comma with a combining mark separates`() {
        for (text, names) in [("Light Red, Blue", ["Light Red", "Blue"]), ("Red,\u{301}", ["Red", "\u{301}"])] {
            let flags = EdmFlags<Colour>(text)
            #expect(flags.members.map(\.name) == names && EdmFlags(flags.description) == flags)
        }
    }

    @Test func `enumerations and flags have literals`() throws {
        #expect(OpenEnumeration<Colour>.unknown("Blue").edmValue == .enumeration(type: "Sales.Colour", member: "Blue"))
        #expect(EdmFlags<Colour>(.red, .green).edmValue == .enumeration(type: "Sales.Colour", member: "Red,Green"))
    }
}
