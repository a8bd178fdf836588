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
