public import Foundation

/// A type that reads itself from JSON directly, without the detour through `Decodable`, in half of its time.
///
///     struct Product: JSONReadable {
///         var id: Int
///         var name: String
///         var price: Decimal?
///         var tags: [String]
///
///         init(from json: borrowing JSONCursor) throws {
///             id = try json.read("ID")
///             name = try json.read("Name")
///             price = try json.readIfPresent("Price")
///             tags = try json.read("Tags")
///         }
///     }
///     let products = try JSONReader().read([Product].self, from: data, at: ["value"])
///
/// A struct of many properties is read some percent faster by an initialiser in an extension that hands all of them to the memberwise one:
///
///     extension Product: JSONReadable {
///         init(from json: borrowing JSONCursor) throws {
///             self.init(id: try json.read("ID"), name: try json.read("Name"), …)
///         }
///     }
///
/// Where they are set one by one, the compiler may copy the whole at the end, which counts a reference for each string.
///
/// Members are found fastest in the order in which they come: each search begins after the member that was found last. The names are those
/// of the text, whatever the reader's strategy for keys. Dates, data, URLs, decimals and numbers that JSON can't write are read by the
/// reader's strategies. Errors are those of `Decodable`, at the same coding paths.
///
/// A type that is `Decodable` as well is also read in this way by ``JSONReader/decode(_:from:at:)`` and declared calls, unless the reader
/// converts keys. It must mean the same by both.
public protocol JSONReadable {
    /// Reads the value at which the cursor stands.
    init(from json: borrowing JSONCursor) throws

    /// The value of an object's member: what the initialiser makes of it. Leave it to the library, some of whose types find and read a
    /// member in one call.
    static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self
    /// The same; `nil` when the member isn't there or is null.
    static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self?
}

extension JSONReadable {
    /// The value of an object's member, by the initialiser.
    @inlinable public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self {
        try Self(from: json.member(name))
    }

    /// The same; `nil` when the member isn't there or is null.
    @inlinable public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self? {
        let index = try json.present(name)
        return index < 0 ? nil : try Self(from: json.member(at: index))
    }
}

// The types that most members have find and read them in one call.

extension Bool {
    /// A Boolean that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Bool {
        try json.document.bool(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Bool? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.bool(at: place)
    }
}

extension String {
    /// A string that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> String {
        try json.document.string(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> String? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.string(at: place)
    }
}

extension Double {
    /// A number that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Double {
        try json.document.double(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Double? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.double(at: place)
    }
}

extension Int {
    /// A whole number that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Int {
        try json.document.integer(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Int? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.integer(at: place)
    }
}

// What stands in JSON by itself. Numbers, dates and data are read as for `Decodable`: exactly, and by the reader's strategies.

extension Bool: JSONReadable {
    /// A Boolean.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.bool(at: json.place) }
}

extension String: JSONReadable {
    /// A string.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.string(at: json.place) }
}

extension Double: JSONReadable {
    /// The nearest number.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.double(at: json.place) }
}

extension Float: JSONReadable {
    /// The nearest number.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.float(at: json.place) }
}

extension Int: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int8: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int16: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int32: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int64: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt8: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt16: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt32: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt64: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Decimal: JSONReadable {
    /// The number with all of its digits.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Decimal.self) }
}

extension Date: JSONReadable {
    /// A date, by the reader's strategy.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Date.self) }
}

extension Data: JSONReadable {
    /// Data, by the reader's strategy.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Data.self) }
}

extension URL: JSONReadable {
    /// A URL as a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(URL.self) }
}

extension UUID: JSONReadable {
    /// A UUID as a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(UUID.self) }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// `nil` for null.
    @inlinable public init(from json: borrowing JSONCursor) throws { self = json.isNull ? nil : try Wrapped(from: json) }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// The elements of an array.
    @inlinable public init(from json: borrowing JSONCursor) throws {
        self = []
        let room = json.takeRoom(forElementsOf: MemoryLayout<Element>.stride)
        defer { json.giveBackRoom(for: room, elementsOf: MemoryLayout<Element>.stride) }
        reserveCapacity(room)
        try json.forEachElement { append(try Element(from: $0)) }
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// The members of an object.
    public init(from json: borrowing JSONCursor) throws {
        self = [:]
        let room = json.takeRoom(forElementsOf: MemoryLayout<(String, Value)>.stride)
        defer { json.giveBackRoom(for: room, elementsOf: MemoryLayout<(String, Value)>.stride) }
        reserveCapacity(room)
        try json.forEachMember { self[$0] = try Value(from: $1) }
    }
}

extension JSONReadable where Self: RawRepresentable, RawValue: JSONReadable {
    /// The value of a raw one, as enumerations have them.
    ///
    /// - Throws: `DecodingError.dataCorrupted` when there is none.
    public init(from json: borrowing JSONCursor) throws {
        let raw = try RawValue(from: json)
        guard let value = Self(rawValue: raw) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: json.codingPath, debugDescription: "No \(Self.self) has the raw value “\(ValueText.text(of: raw))”."))
        }
        self = value
    }
}
