/// What a store tells without being asked.
package enum StoreNews: Sendable {
    /// There are records that the one who reads was waiting for.
    case records
    /// Something was lost.
    case losses
}
