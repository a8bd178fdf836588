// Access by position. To be deleted once DynamicEntity has these members itself.
extension DynamicEntity {
    /// The number of properties.
    package var count: Int { properties.count }

    /// Returns the name of the property at a valid position.
    package func name(at position: Int) -> String { properties[position].name }

    /// Returns the value of the property at a valid position.
    package func value(at position: Int) -> ODataValue { properties[position].value }
}
