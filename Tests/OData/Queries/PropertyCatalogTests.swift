import Foundation
import OData
import Testing

@Suite struct PropertyCatalogTests {
    private func name<Entity: Decodable & Sendable>(_ keyPath: PartialKeyPath<Entity>) throws -> String {
        let text = try FetchRequest<Entity>(from: "S").select(keyPath).relativeURL()
        return text.replacing("S?$select=", with: "")
    }

    @Test func renamedAndSwappedKeys() throws {
        #expect(try name(\Person.name) == "LastName")
        #expect(try name(\Person.lastName) == "Name")
        #expect(try name(\Person.userName) == "UserName")
    }

    @Test func everyKindOfValue() throws {
        #expect(try name(\Person.age) == "Age")
        #expect(try name(\Person.isActive) == "IsActive")
        #expect(try name(\Person.isHidden) == "IsHidden")
        #expect(try name(\Person.gender) == "Gender")
        #expect(try name(\Person.favourite) == "Favourite")
        #expect(try name(\Person.emails) == "Emails")
        #expect(try name(\Person.address) == "Address")
        #expect(try name(\Person.home) == "Home")
        #expect(try name(\Person.bestFriend) == "BestFriend")
        #expect(try name(\Person.friends) == "Friends")
        #expect(try name(\Person.trips) == "Trips")
        #expect(try name(\Person.registered) == "Registered")
        #expect(try name(\Trip.id) == "TripId")
        #expect(try name(\Trip.price) == "Price")
        #expect(try name(\Trip.day) == "Day")
        #expect(try name(\Trip.opens) == "Opens")
        #expect(try name(\Everything.small) == "Small")
        #expect(try name(\Everything.tiny) == "Tiny")
        #expect(try name(\Everything.unsigned) == "Unsigned")
        #expect(try name(\Everything.single) == "Single")
        #expect(try name(\Everything.bytes) == "Bytes")
        #expect(try name(\Everything.link) == "Link")
        #expect(try name(\Everything.level) == "Level")
        #expect(try name(\Everything.code) == "Code")
        #expect(try name(\Everything.texts) == "Texts")
        #expect(try name(\Everything.more) == "More")
        #expect(try name(\Everything.flags) == "Flags")
        #expect(try name(\Everything.nothing) == "Nothing")
    }

    @Test func pathsOfSeveralSteps() throws {
        #expect(try name(\Person.home.city) == "Home/City")
        #expect(try name(\Person.address?.city) == "Address/City")
        #expect(try name(\Person.address?.country?.code) == "Address/Country/Code")
    }

    @Test func computedAndWrappedProperties() throws {
        #expect(try name(\Person.familyName) == "Name")
        #expect(try name(\Wrapping.trimmed) == "Trimmed")
        #expect(try name(\Wrapping.other) == "Other")
        #expect(try name(\Wrapping.number) == "Number")
        #expect(try name(\Wrapping.flattened) == "Inner/Deep")
    }

    @Test func unexplainedKeyPathsAreErrorsThatNameThem() {
        for keyPath in [\Person.isVisible, \Person.planet, \Person.fullName, \Person.emails.count] as [PartialKeyPath<Person>] {
            let error = #expect(throws: ODataQueryError.self) { try name(keyPath) }
            guard case .unknownProperty(_, type: "Person", _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let error = #expect(throws: ODataQueryError.self) { try FetchRequest<Person>().filter { $0.planet == "x" }.relativeURL() }
        #expect(error?.description.contains("same in every decoded sample") == true, "\(String(describing: error))")
    }

    @Test func manyBooleansAreDistinguished() throws {
        #expect(try name(\Switches.a) == "A")
        #expect(try name(\Switches.b) == "B")
        #expect(try name(\Switches.c) == "C")
        #expect(try name(\Switches.d) == "D")
        #expect(try name(\Switches.e) == "E")
        #expect(throws: ODataQueryError.self) { try name(\Switches.both) }
        #expect(throws: ODataQueryError.self) { try name(\Switches.either) }
    }

    @Test func aTypeThatRejectsSamplesCanSupplyItsOwn() throws {
        let error = #expect(throws: ODataQueryError.self) { try name(\Picky.kind) }
        #expect(error?.description.contains("propertyNames") == true)
        let picky = FetchRequest<Picky>(from: "Picky")
        #expect(try picky.relativeURL() == "Picky")
        #expect(picky.selectionNote?.contains("decoding a sample") == true)
        #expect(try name(\PickyNamed.kind) == "Kind")
        #expect(try name(\PickyNamed.size) == "Dimensions/Size")
        #expect(try name(\Sampled.email) == "Email")
        #expect(try FetchRequest<Sampled>(from: "S").relativeURL() == "S?$select=Email,Id")
    }

    @Test func namesAreFoundFromManyTasksAtOnce() async throws {
        struct Fresh: Decodable, Sendable {
            let first: Int
            let second: String
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let request = FetchRequest<Fresh>(from: "F").select(number % 2 == 0 ? \.first : \.second)
                    return try request.filter { $0.first > 1 && $0.second == "x" }.relativeURL()
                }
            }
            for try await url in group { #expect(url.contains("first%20gt%201%20and%20second%20eq%20'x'")) }
        }
    }

    @Test func controlInformationIsNotSelected() throws {
        #expect(try FetchRequest<Tagged>(from: "S").relativeURL() == "S?$select=Id")
    }

    @Test func inheritedPropertiesAreKnown() throws {
        #expect(try FetchRequest<Manager>(from: "S").relativeURL() == "S?$select=Budget,Name")
        #expect(try name(\Manager.name) == "Name")
        #expect(try name(\Manager.budget) == "Budget")
    }
}

private enum Level: Int, Decodable, Sendable { case low = 3, high = 5 }

private struct Code: RawRepresentable, Decodable, Sendable {
    let rawValue: String
}

private struct Everything: Decodable, Sendable {
    let small: Int16
    let tiny: Int8
    let unsigned: UInt64
    let single: Float
    let bytes: Data
    let link: URL
    let level: Level
    let code: Code
    let texts: [String: String]
    let more: Set<Int>
    let flags: [Bool]
    let nothing: UUID?

    enum CodingKeys: String, CodingKey {
        case small = "Small"
        case tiny = "Tiny"
        case unsigned = "Unsigned"
        case single = "Single"
        case bytes = "Bytes"
        case link = "Link"
        case level = "Level"
        case code = "Code"
        case texts = "Texts"
        case more = "More"
        case flags = "Flags"
        case nothing = "Nothing"
    }
}

@propertyWrapper
private struct Trimmed: Decodable, Sendable {
    let wrappedValue: String

    init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(String.self).trimmingCharacters(in: .whitespaces)
    }
}

@propertyWrapper
private struct TextNumber: Decodable, Sendable {
    let wrappedValue: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Int(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
        }
        wrappedValue = value
    }
}

private struct Wrapping: Decodable, Sendable {
    @Trimmed var trimmed: String
    @Trimmed var other: String
    @TextNumber var number: Int
    let flattened: String

    enum CodingKeys: String, CodingKey {
        case trimmed = "Trimmed"
        case other = "Other"
        case number = "Number"
        case inner = "Inner"
    }

    enum InnerKeys: String, CodingKey { case deep = "Deep" }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        _trimmed = try container.decode(Trimmed.self, forKey: .trimmed)
        _other = try container.decode(Trimmed.self, forKey: .other)
        _number = try container.decode(TextNumber.self, forKey: .number)
        let inner = try container.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
        flattened = try inner.decode(String.self, forKey: .deep)
    }
}

private struct Switches: Decodable, Sendable {
    let a: Bool
    let b: Bool
    let c: Bool
    let d: Bool
    let e: Bool
    var both: Bool { a && b }
    var either: Bool { a != b }

    enum CodingKeys: String, CodingKey {
        case a = "A"
        case b = "B"
        case c = "C"
        case d = "D"
        case e = "E"
    }
}

private enum Kind: String, Decodable, Sendable { case red, green }

private struct Picky: Decodable, Sendable {
    let kind: Kind
}

private struct PickyNamed: Decodable, Sendable, PropertyNaming {
    static var propertyNames: [PartialKeyPath<PickyNamed>: String] { [\.kind: "Kind", \.size: "Dimensions/Size"] }

    let kind: Kind
    var size: Int { 0 }
}

private struct Email: Decodable, Sendable, PropertySample {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard text.contains("@") else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "no address") }
        self.text = text
    }

    private init(text: String) {
        self.text = text
    }

    static func propertySample(_ number: Int) -> Email? {
        Email(text: "\(number)@example.com")
    }
}

private struct Sampled: Decodable, Sendable {
    let email: Email
    let id: Int

    enum CodingKeys: String, CodingKey {
        case email = "Email"
        case id = "Id"
    }
}

private struct Tagged: Decodable, Sendable {
    let etag: String?
    let id: Int

    enum CodingKeys: String, CodingKey {
        case etag = "@odata.etag"
        case id = "Id"
    }
}

private class Employee: Decodable, @unchecked Sendable {
    let name: String

    enum CodingKeys: String, CodingKey { case name = "Name" }
}

private final class Manager: Employee, @unchecked Sendable {
    let budget: Double

    enum CodingKeys: String, CodingKey { case budget = "Budget" }

    required init(from decoder: any Decoder) throws {
        budget = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .budget)
        try super.init(from: decoder)
    }
}
