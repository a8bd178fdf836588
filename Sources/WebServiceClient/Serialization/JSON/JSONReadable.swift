public import Foundation

/// A type that reads itself directly from JSON, without `Decodable`, in half the time.
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
/// A struct with many properties is read a few percent faster if the initializer is in an extension and calls the memberwise one:
///
///     extension Product: JSONReadable {
///         init(from json: borrowing JSONCursor) throws {
///             self.init(id: try json.read("ID"), name: try json.read("Name"), …)
///         }
///     }
///
/// If the properties are set one by one, the compiler may copy the whole struct at the end, which retains each string.
///
/// Read members in the order of the text, which is fastest: each search begins after the last member found. Names are those of the text,
/// regardless of the reader's key strategy. Dates, data and numbers that JSON can't represent are read by the reader's strategies; URLs
/// are read from strings, decimals exactly. Errors are those of `Decodable`, at the same coding paths.
///
/// If the type is also `Decodable`, ``JSONReader/decode(_:from:at:)`` and declared calls read it this way, unless the reader converts
/// keys. Both ways must give the same result.
public protocol JSONReadable {
    /// Reads the value at the cursor.
    init(from json: borrowing JSONCursor) throws

    /// Reads the value of an object's member with the initializer. A requirement only so that basic types can find and read a member in one
    /// call; don't implement it.
    static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self
    /// Reads the value of an object's member; `nil` if it is missing or null.
    static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self?
}

extension JSONReadable {
    /// Reads the value of an object's member with the initializer.
    @inlinable public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self {
        try Self(from: json.member(name))
    }

    /// Reads the value of an object's member; `nil` if it is missing or null.
    @inlinable public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Self? {
        let index = try json.present(name)
        return index < 0 ? nil : try Self(from: json.member(at: index))
    }
}

// The most common member types find and read a member in one call.

extension Bool {
    /// Reads a Boolean member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Bool {
        try json.document.bool(at: json.place(ofMember: name))
    }

    /// Reads a Boolean member; `nil` if it is missing or null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Bool? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.bool(at: place)
    }
}

extension String {
    /// Reads a string member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> String {
        try json.document.string(at: json.place(ofMember: name))
    }

    /// Reads a string member; `nil` if it is missing or null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> String? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.string(at: place)
    }
}

extension Double {
    /// Reads a number member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Double {
        try json.document.double(at: json.place(ofMember: name))
    }

    /// Reads a number member; `nil` if it is missing or null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Double? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.double(at: place)
    }
}

extension Int {
    /// Reads a whole-number member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Int {
        try json.document.integer(at: json.place(ofMember: name))
    }

    /// Reads a whole-number member; `nil` if it is missing or null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Int? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.integer(at: place)
    }
}

// Basic types, which are read as for `Decodable`. Integers and decimals are read exactly, floating-point numbers to the nearest; dates and
// data by the reader's strategies.

extension Bool: JSONReadable {
    /// Reads a Boolean.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.bool(at: json.place) }
}

extension String: JSONReadable {
    /// Reads a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.string(at: json.place) }
}

extension Double: JSONReadable {
    /// Reads the nearest number.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.double(at: json.place) }
}

extension Float: JSONReadable {
    /// Reads the nearest number.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.float(at: json.place) }
}

extension Int: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int8: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int16: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int32: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int64: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt8: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt16: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt32: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt64: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: JSONReadable {
    /// Reads a whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Decimal: JSONReadable {
    /// Reads the exact number.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Decimal.self) }
}

extension Date: JSONReadable {
    /// Reads a date by the reader's strategy.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Date.self) }
}

extension Data: JSONReadable {
    /// Reads data by the reader's strategy.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Data.self) }
}

extension URL: JSONReadable {
    /// Reads a URL from a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(URL.self) }
}

extension UUID: JSONReadable {
    /// Reads a UUID from a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(UUID.self) }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// Reads a value, or `nil` for null.
    @inlinable public init(from json: borrowing JSONCursor) throws { self = json.isNull ? nil : try Wrapped(from: json) }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Reads the elements of an array.
    @inlinable public init(from json: borrowing JSONCursor) throws {
        self = []
        let room = json.takeRoom(forElementsOf: MemoryLayout<Element>.stride)
        defer { json.giveBackRoom(for: room, elementsOf: MemoryLayout<Element>.stride) }
        reserveCapacity(room)
        try json.forEachElement { append(try Element(from: $0)) }
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// Reads the members of an object.
    public init(from json: borrowing JSONCursor) throws {
        self = [:]
        let room = json.takeRoom(forElementsOf: MemoryLayout<(String, Value)>.stride)
        defer { json.giveBackRoom(for: room, elementsOf: MemoryLayout<(String, Value)>.stride) }
        reserveCapacity(room)
        try json.forEachMember { self[$0] = try Value(from: $1) }
    }
}

extension JSONReadable where Self: RawRepresentable, RawValue: JSONReadable {
    /// Reads the case with a raw value.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if there is none.
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
