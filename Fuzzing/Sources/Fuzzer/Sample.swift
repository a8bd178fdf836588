import Foundation
import OData

/// An entity with a property of each kind. All are optional, so that short inputs reach the readers of values.
struct Sample: Codable, Sendable {
    var text: String?
    var flag: Presence<Bool> = .absent
    var small: Int8?
    var wide: Int64?
    var number: Double?
    var single: Float?
    var exact: EdmDecimal?
    var decimal: Decimal?
    var instant: Date?
    var time: EdmDateTimeOffset?
    var date: EdmDate?
    var clock: EdmTimeOfDay?
    var span: EdmDuration?
    var bytes: EdmBinary?
    var data: Data?
    var guid: UUID?
    var place: EdmSpatial?
    var colour: OpenEnumeration<Colour>?
    var flags: EdmFlags<Colour>?
    var list: [String]?
    var any: ODataValue?
    var one: ToOne<DynamicEntity> = .notLoaded(link: nil)
    var many = ToMany<DynamicEntity>()

    enum Colour: String, Codable, Sendable { case red, blue }
}
