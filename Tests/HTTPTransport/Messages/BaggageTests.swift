import HTTPTransport
import TestSupport
import Testing

@Suite struct BaggageTests {
    @Test func `values are percent-encoded and read back`() throws {
        var generator = SeededGenerator(seed: 7)
        let pool = Array("aZ09 ,;=%\"\\\té漢🙂&+-~\u{7F}\n")
        for _ in 0..<500 {
            var baggage = Baggage()
            for index in 0..<Int.random(in: 1...5, using: &generator) {
                let value = String((0..<Int.random(in: 0...8, using: &generator)).compactMap { _ in pool.randomElement(using: &generator) })
                baggage.set(Baggage.Member("k\(index)", value, properties: Bool.random(using: &generator) ? ["ttl=30", "private"] : []))
            }
            let (text, problems) = baggage.fieldValue()
            let field = try #require(text)
            #expect(problems.isEmpty && field.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(Baggage.parse(field).baggage == baggage, "\(field)")
        }
    }

    @Test func `blanks around members, keys and properties don't count`() {
        let (baggage, problems) = Baggage.parse(" key1 = value1 ; p1 ; p2=x , key2=a%20b,, ")
        #expect(problems.isEmpty)
        #expect(baggage.members.map(\.key) == ["key1", "key2"] && baggage["key1"] == "value1" && baggage["key2"] == "a b")
        #expect(baggage.members[0].properties == ["p1", "p2=x"])
    }

    @Test(arguments: ["key", "=v", "k ey=v", "k=a b", "k=\"v\"", "k=%zz", "k=%2", "k=v;=x", "k=v;p=\"", "ké=v", "k=é"])
    func `an invalid member is left out and told`(text: String) {
        let (baggage, problems) = Baggage.parse("a=1,\(text),b=2")
        #expect(baggage.members.map(\.key) == ["a", "b"])
        #expect(problems.count == 1 && problems[0].contains("member 2"))
    }

    @Test func `a value that isn't UTF-8 has replacement characters`() {
        #expect(Baggage.parse("k=%FFa").baggage["k"] == "\u{FFFD}a")
    }

    @Test func `the last of several values of a key counts, and it is told`() {
        let (baggage, problems) = Baggage.parse("k=1,k=2")
        #expect(baggage["k"] == "2" && problems.count == 1)
    }

    @Test func `what exceeds the limits is left out and told`() {
        let many = Baggage((0..<70).map { Baggage.Member("k\($0)", "v") })
        let (text, problems) = many.fieldValue()
        #expect(text?.split(separator: ",").count == 64 && problems.count == 6)
        let large: Baggage = ["a": String(repeating: "x", count: 8_190), "b": "", "c": String(repeating: "é", count: 3_000)]
        let (short, told) = large.fieldValue()
        #expect(short?.utf8.count == 8_192 && told.count == 2)
        #expect(told.allSatisfy { !$0.contains("xx") })
    }

    @Test func `a member with an invalid key or property is never sent`() {
        var baggage: Baggage = ["bad key": "1", "k\r\nX": "2", "fine": "3", "": "4"]
        baggage.set(Baggage.Member("p", "5", properties: ["a,b"]))
        let (text, problems) = baggage.fieldValue()
        #expect(text == "fine=3" && problems.count == 4)
        baggage["fine"] = nil
        #expect(baggage.fieldValue().text == nil)
    }
}
