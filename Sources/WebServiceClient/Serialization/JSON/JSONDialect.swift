/// What a format that is written in JSON makes of values otherwise than JSON's readers do: OData's numbers as texts, for one.
///
/// It is asked about what the reader can't read by itself, and about the types that it names; everything else costs nothing more.
package protocol JSONDialect: Sendable {
    /// Whether values of a type are read by the dialect. It is asked once for each type and text.
    func reads(_ type: any Any.Type) -> Bool
    /// A value of such a type.
    func read<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value
    /// A number of a text; `nil` where it is none.
    func integer<Value: FixedWidthInteger>(of text: String, as type: Value.Type) -> Value?
    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(of text: String, as type: Value.Type) -> Value?
    /// Whether an object stands in a member's place for one that isn't there.
    func isAbsence(_ object: JSONNode) -> Bool
    /// Looks at an object before its members are decoded.
    func check(object: JSONNode) throws
    /// The array that is meant by a value; `nil` where it means none.
    func array(in node: JSONNode) throws -> JSONNode?
    /// A decoder of an object's member, which may not be there, with what stands beside it.
    func decoder(ofMember key: any CodingKey, in object: JSONNode) throws -> any Decoder
}
